import { afterAll, beforeAll, expect, test, vi } from 'vitest'

import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

/** A scheduler without a notification rests for ten seconds. */
const SOON_MS = 4000

const cleanUp = new AsyncDisposableStack()
let stack: Stack
let site: RuntimeSite
beforeAll(async () => {
  const at = (time: string) => ({ now: () => new Date(`2026-05-04T${time}Z`) })
  // The one that writes schedules does not work them, and lives two minutes before the one that does.
  stack = cleanUp.use(await startStack({ works: false, platform: { clock: at('10:00:30') } }))
  cleanUp.use(await startStack({ beside: stack, platform: { clock: at('10:02:00') } }))
  site = await RuntimeSite.open(stack, 'one.test')
  await site.putOperation('echo', { preset: { preset: 'echo' } })
  await site.synced()
})
afterAll(() => cleanUp.disposeAsync())

test.each(['one', 'two', 'three', 'four'])(
  'the schedule of job "%s", written by another replica, ends a rest of the scheduler',
  async (jobId) => {
    const body = { operation: 'echo', schedule: { cron: '1 10 * * *' } }
    const put = await site.admin('PUT', `/jobs/${jobId}`, body)
    expect(put, put.text).toMatchObject({ status: 200 })
    const runs = async () => (await site.admin('GET', `/jobs/${jobId}/runs`)).json.items
    const patience = { timeout: SOON_MS, interval: 20 }
    await vi.waitUntil(async () => (await runs()).length > 0, patience)
    const [run] = await runs()
    expect(run).toMatchObject({ trigger: 'schedule', scheduledFor: '2026-05-04T10:01:00.000Z' })
  },
)
