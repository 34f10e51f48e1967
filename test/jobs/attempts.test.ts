import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { type PostgresPlatform, connectPostgres } from '#platform/postgres/postgres.ts'
import { RunAttempts } from '#runtime/jobs/run-attempts.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { silentLog } from '#test/silent-log.ts'
import { type Stack, startStack } from '#test/stack.ts'

const SITES = ['one.test', 'two.test']
const NOW = new Date('2026-05-04T10:00:30Z')

let stack: Stack
let platform: PostgresPlatform
let attempts: RunAttempts
beforeAll(async () => {
  // Runs are not carried out: they wait.
  stack = await startStack({ sites: SITES, works: false })
  platform = await connectPostgres({ url: stack.database.url, log: silentLog, poolSize: 4 })
  attempts = new RunAttempts({ database: platform.database, clock: { now: () => NOW } })
  for (const host of SITES) {
    const site = await RuntimeSite.open(stack, host)
    await site.putOperation('echo', { preset: { preset: 'echo' } })
  }
})
afterAll(async () => {
  await platform[Symbol.asyncDispose]()
  await stack[Symbol.asyncDispose]()
})

let jobs = 0

/** A run that waits, of a job of its own. */
async function queuedRun(host: string) {
  const site = await RuntimeSite.open(stack, host)
  const jobId = `job${(jobs += 1)}`
  await site.admin('PUT', `/jobs/${jobId}`, { operation: 'echo', payload: { of: jobId } })
  const started = await site.admin('POST', `/jobs/${jobId}`)
  expect(started, started.text).toMatchObject({ status: 200 })
  const { siteId } = await stack.inSite(host, async (tx) => tx)
  return { siteId, runId: String(started.json.data.runId), jobId, host }
}

const stored = ({ host, runId }: { host: string; runId: string }) =>
  stack.inSite(host, ({ db }) =>
    db
      .selectFrom('data_job_run')
      .select(['status', 'attempts', 'result', 'error'])
      .where('run_id', '=', runId)
      .executeTakeFirstOrThrow(),
  )

describe('attempts at runs that come at the same time', () => {
  test('begin and end each for its own site', async () => {
    const runs = await Promise.all([...SITES, ...SITES].map(queuedRun))
    const begun = await Promise.all(runs.map((run) => attempts.begin(run)))
    expect(begun).toEqual(
      runs.map(({ jobId, host }) =>
        expect.objectContaining({ jobId, domain: host, attempt: 1, payload: { of: jobId } }),
      ),
    )
    await Promise.all(
      runs.map((run) =>
        attempts.end({ ...run, attempt: 1, status: 'succeeded', result: run.jobId }),
      ),
    )
    for (const run of runs) {
      expect(await stored(run)).toMatchObject({ status: 'succeeded', result: run.jobId })
    }
  })

  test('are none of a run that is over or gone, nor of one under the name of another site', async () => {
    const [over, next] = [await queuedRun('one.test'), await queuedRun('one.test')]
    await attempts.begin(over)
    await attempts.end({ ...over, attempt: 1, status: 'failed' })
    const { siteId } = await stack.inSite('two.test', async (tx) => tx)
    const gone = { siteId: next.siteId, runId: 'run-gone' }
    const begun = await Promise.all(
      [over, gone, { ...next, siteId }, next].map((run) => attempts.begin(run)),
    )
    expect(begun.map((attempt) => attempt?.jobId)).toEqual([
      undefined,
      undefined,
      undefined,
      next.jobId,
    ])
  })

  test('write nothing over a later attempt', async () => {
    const run = await queuedRun('one.test')
    const other = await queuedRun('two.test')
    await Promise.all([attempts.begin(run), attempts.begin(other)])
    expect(await attempts.begin(run)).toMatchObject({ attempt: 2 })
    await Promise.all([
      attempts.end({ ...run, attempt: 1, status: 'failed' }),
      attempts.end({ ...other, attempt: 1, status: 'succeeded' }),
    ])
    expect(await stored(run)).toMatchObject({ status: 'running', attempts: 2 })
    expect(await stored(other)).toMatchObject({ status: 'succeeded' })
  })

  test('do not wait for one whose run is locked', async () => {
    const locked = await queuedRun('one.test')
    const free = [await queuedRun('one.test'), await queuedRun('two.test')]
    const ends = { held: Promise.withResolvers<void>(), released: Promise.withResolvers<void>() }
    const holding = stack.inSite('one.test', async ({ db }) => {
      await db
        .selectFrom('data_job_run')
        .select('run_id')
        .where('run_id', '=', locked.runId)
        .forUpdate()
        .execute()
      ends.held.resolve()
      await ends.released.promise
    })
    await ends.held.promise
    let isBegun = false
    const late = attempts.begin(locked).finally(() => (isBegun = true))
    const begun = await Promise.all(free.map((run) => attempts.begin(run)))
    await Promise.all(free.map((run) => attempts.end({ ...run, attempt: 1, status: 'succeeded' })))
    expect(begun.map((attempt) => attempt?.attempt)).toEqual([1, 1])
    expect(isBegun).toBe(false)
    ends.released.resolve()
    await holding
    expect(await late).toMatchObject({ attempt: 1 })
  })

  test('do not fail because one cannot be written', async () => {
    const [bad, good] = [await queuedRun('one.test'), await queuedRun('two.test')]
    await Promise.all([attempts.begin(bad), attempts.begin(good)])
    const ended = await Promise.allSettled([
      attempts.end({ ...bad, attempt: 1, status: 'succeeded', result: 'a\0b' }),
      attempts.end({ ...good, attempt: 1, status: 'succeeded', result: 'fine' }),
    ])
    expect(ended.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
    expect(await stored(good)).toMatchObject({ status: 'succeeded', result: 'fine' })
  })
})
