import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { JobReplica } from '#test/job-replica.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

const PATIENCE = { timeout: 60_000, interval: 20 }
const START = Date.parse('2026-05-04T12:00:30Z')
const STEP_MS = 10_000
const MINUTE_MS = 60_000
/** Jobs of each site that run every minute. */
const COUNTERS = 8
const MINUTES = ['12:01', '12:02', '12:03', '12:04', '12:05'].map(
  (time) => `2026-05-04T${time}:00.000Z`,
)
const NAP =
  'export default () => new Promise((resolve) => setTimeout(() => resolve("slept"), 2500))'

let now = START
let stack: Stack
let sites: RuntimeSite[]
let replicas: JobReplica[]
beforeAll(async () => {
  // It answers requests; the work is left to the three others.
  stack = await startStack({ works: false, platform: { clock: { now: () => new Date(now) } } })
  replicas = await Promise.all([1, 2, 3].map(() => JobReplica.start(stack, START)))
  sites = await Promise.all(['one.test', 'two.test'].map((host) => RuntimeSite.open(stack, host)))
  for (const site of sites) {
    const count = 'export default ({ requestId }) => requestId'
    await site.putOperation('count', { lambdaResourceId: await site.putFunction('count', count) })
    await site.putOperation('nap', { lambdaResourceId: await site.putFunction('nap', NAP) })
    await site.synced()
    for (let job = 0; job < COUNTERS; job += 1) {
      const cron = job % 2 === 0 ? '* * * * *' : 'rate(1 minute)'
      await put(site, `count${job}`, { operation: 'count', schedule: { cron } })
    }
  }
  await put(sites[0], 'nap', { operation: 'nap', schedule: { cron: '3-5 12 * * *' } })
})
afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica[Symbol.asyncDispose]()))
  await stack[Symbol.asyncDispose]()
})

async function put(site: RuntimeSite | undefined, jobId: string, body: object): Promise<void> {
  const answer = await site?.admin('PUT', `/jobs/${jobId}`, body)
  expect(answer, answer?.text).toMatchObject({ status: 200 })
}

const runsOf = (host: string) =>
  stack.inSite(host, ({ db }) =>
    db
      .selectFrom('data_job_run')
      .select(['job_id', 'status', 'scheduled_for', 'missed', 'request_id', 'attempts', 'result'])
      .orderBy('run_number')
      .execute(),
  )
type Run = Awaited<ReturnType<typeof runsOf>>[number]

/** Until no run waits or runs, except for those of the job that naps. */
const countersRan = () =>
  vi.waitUntil(async () => {
    const runs = [...(await runsOf('one.test')), ...(await runsOf('two.test'))]
    return runs.every(({ job_id: jobId, status }) => jobId === 'nap' || status === 'succeeded')
  }, PATIENCE)

/** A step of time on every replica at once. */
async function step(): Promise<void> {
  now += STEP_MS
  await Promise.all(replicas.map((replica) => replica.setTime(now)))
}

/** Ends the replica that runs the nap, in the middle of it. */
async function killHolder(): Promise<JobReplica> {
  let holder: JobReplica | undefined
  await vi.waitUntil(async () => {
    const nap = (await runsOf('one.test')).find(({ job_id: jobId }) => jobId === 'nap')
    holder = replicas.find(({ calls }) => nap !== undefined && calls.includes(nap.request_id))
    return holder !== undefined
  }, PATIENCE)
  if (!holder) throw new Error('no job naps')
  await holder.kill()
  replicas = replicas.filter((replica) => replica !== holder)
  return holder
}

describe('three replicas', () => {
  test('run each tick of five minutes once, also when the one that runs a job is killed', async () => {
    const working = [...replicas]
    while (now < Date.parse(MINUTES.at(-1) ?? '') + STEP_MS) {
      await step()
      if (now % MINUTE_MS !== 0) continue
      // In the middle of whatever else it does.
      if (new Date(now).toISOString() === MINUTES[2]) await killHolder()
      await countersRan()
    }
    await vi.waitUntil(async () => {
      const naps = (await runsOf('one.test')).filter(({ job_id: jobId }) => jobId === 'nap')
      return naps.every(({ status }) => status !== 'queued' && status !== 'running')
    }, PATIENCE)
    await countersRan()

    const calls = working.flatMap((replica) => replica.calls)
    for (const host of ['one.test', 'two.test']) {
      const runs = await runsOf(host)
      for (let job = 0; job < COUNTERS; job += 1) {
        const ticks = runs.filter(({ job_id: jobId }) => jobId === `count${job}`)
        expect(ticks.map(tickOf), `count${job} of ${host}`).toEqual(MINUTES)
        for (const run of ticks) expectRun(run, calls)
      }
    }
    const naps = (await runsOf('one.test')).filter(({ job_id: jobId }) => jobId === 'nap')
    expect(naps.map(tickOf)).toEqual(MINUTES.slice(2))
    expect(naps[0]).toMatchObject({ status: 'succeeded', attempts: 2, result: '"slept"' })
    for (const { status, attempts } of naps.slice(1)) {
      expect(['skipped 0', 'succeeded 1']).toContain(`${status} ${attempts}`)
    }
    expect(working.filter((replica) => replica.calls.length > 0)).toHaveLength(3)
  })
})

const tickOf = ({ scheduled_for: tick }: Run) => tick?.toISOString()

/** Once, or again where the first attempt was interrupted. */
function expectRun(run: Run, calls: readonly string[]): void {
  const called = calls.filter((requestId) => requestId === run.request_id).length
  expect(run).toMatchObject({ status: 'succeeded', missed: 0, result: `"${run.request_id}"` })
  expect(called).toBeGreaterThanOrEqual(1)
  expect(called).toBeLessThanOrEqual(run.attempts)
}
