import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { interceptedSandbox } from '#test/intercepted-sandbox.ts'
import { asAdmin } from '#test/postgres.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

const PATIENCE = { timeout: 40_000, interval: 20 }

/** How many calls of an operation are still lost, as when the sandbox host dies that runs them. */
const losses = new Map<string, number>()
let cacheDir: string
let stack: Stack
let site: RuntimeSite
beforeAll(async () => {
  cacheDir = await mkdtemp(join(tmpdir(), 'croft-faults-'))
  const openSandbox = interceptedSandbox(cacheDir, async (call, run) => {
    const left = losses.get(call.operation) ?? 0
    if (left === 0) return run()
    losses.set(call.operation, left - 1)
    const failure = { kind: 'interrupted', message: 'the host went away' } as const
    return { ok: false, failure, cpuUs: 0 }
  })
  stack = await startStack({ platform: { openSandbox } })
  site = await RuntimeSite.open(stack, 'one.test')
  for (const operation of ['shaky', 'doomed']) {
    const lambdaResourceId = await site.putFunction(operation, 'export default () => "done"')
    await site.putOperation(operation, { lambdaResourceId })
  }
  await site.synced()
})
afterAll(async () => {
  await stack[Symbol.asyncDispose]()
  await rm(cacheDir, { recursive: true, force: true })
})

async function start(operation: string): Promise<string> {
  await site.admin('PUT', `/jobs/${operation}`, { operation })
  const started = await site.admin('POST', `/jobs/${operation}`)
  expect(started, started.text).toMatchObject({ status: 200 })
  return started.json.data.runId
}

async function over(jobId: string, runId: string) {
  let run = { status: '' }
  await vi.waitUntil(async () => {
    run = (await site.admin('GET', `/jobs/${jobId}/runs/${runId}`)).json
    return !['queued', 'running'].includes(run.status)
  }, PATIENCE)
  return run
}

describe('a run that is interrupted', () => {
  test('is tried again, three times at most, and says how often', async () => {
    losses.set('shaky', 2)
    losses.set('doomed', 10)
    const [shaky, doomed] = [await start('shaky'), await start('doomed')]
    expect(await over('shaky', shaky)).toMatchObject({
      status: 'succeeded',
      attempts: 3,
      result: 'done',
      error: null,
    })
    expect(await over('doomed', doomed)).toMatchObject({
      status: 'failed',
      attempts: 4,
      error: { code: 'OperationInterrupted' },
    })
    expect(losses.get('doomed')).toBe(6)
  })

  test('fails when the queue has given it up, so that the job can run again', async () => {
    await start('shaky').then((runId) => over('shaky', runId))
    await stack.inSite('one.test', (tx) =>
      tx.db
        .insertInto('data_job_run')
        .values({
          site_id: tx.siteId,
          run_id: 'run_orphan',
          job_id: 'shaky',
          status: 'running',
          trigger: 'schedule',
          attempts: 4,
          request_id: 'x',
        })
        .execute(),
    )
    const { siteId } = await stack.context.sites.find('one.test')
    const data = JSON.stringify({ siteId, runId: 'run_orphan' })
    await asAdmin(
      (admin) =>
        admin`insert into pgboss.job (name, data) values ('job-run.dead', ${data}::text::jsonb)`,
      stack.database.url,
    )
    expect(await over('shaky', 'run_orphan')).toMatchObject({
      status: 'failed',
      error: { code: 'OperationInterrupted' },
    })
  })
})
