import { afterAll, beforeAll, expect, test, vi } from 'vitest'

import { type PostgresPlatform } from '#platform/postgres/postgres.ts'
import { installQueue } from '#platform/queue/install-queue.ts'
import { openQueue } from '#platform/queue/postgres-queue.ts'
import { type TestDatabase, asAdmin, openDatabase } from '#test/postgres.ts'
import { silentLog } from '#test/silent-log.ts'

const POLICY = { retries: 2, firstRetrySeconds: 1, lastRetrySeconds: 2, maxRunSeconds: 60 }
const PATIENCE = { timeout: 60_000, interval: 50 }
/** More than pg-boss is silent about. */
const JOBS = 10_001
const cleanUp = new AsyncDisposableStack()
let postgres: PostgresPlatform & TestDatabase

beforeAll(async () => {
  postgres = cleanUp.use(await openDatabase())
  const policies = { 'site-cleanup': POLICY, 'mail-removal': POLICY }
  await asAdmin((owner) => installQueue(owner, policies), postgres.url)
})
afterAll(() => cleanUp.disposeAsync())

test('A queue of 10,000 that are due later is calm, and a backlog of as many warns once', async () => {
  const warned: unknown[] = []
  const log = { ...silentLog, warn: (fields: unknown) => void warned.push(fields) }
  const queue = cleanUp.use(await openQueue({ ...postgres, log }))
  // No handler: nothing takes them.
  const stop = new AbortController()
  const running = queue.run(stop.signal)
  await postgres.database.withDirectory(async (tx) => {
    const jobs = Array.from({ length: JOBS }, (_, at) => ({ job: { siteId: `site_${at}` } }))
    await queue.enqueueAll(tx, 'site-cleanup', jobs)
    await queue.enqueueAll(tx, 'mail-removal', [...jobs, { job: { siteId: 'site_running' } }])
  })
  await asAdmin(async (owner) => {
    await owner`update pgboss.job set start_after = now() + interval '1 day'
      where name = 'site-cleanup'`
    // While one runs, jobs are counted each few seconds.
    await owner`update pgboss.job set state = 'active', started_on = now()
      where name = 'mail-removal' and data ->> 'siteId' = 'site_running'`
    const counted = async (): Promise<string[]> => {
      const rows = await owner<{ at: string }[]>`
        select monitor_on::text as at from pgboss.queue
        where queued_count = ${JOBS} and name in ('site-cleanup', 'mail-removal')`
      return [...new Set(rows.map(({ at }) => at))]
    }
    const seen = new Set<string>()
    await vi.waitUntil(async () => {
      for (const at of await counted()) seen.add(at)
      return seen.size >= 4
    }, PATIENCE)
  }, postgres.url)
  await vi.waitUntil(() => warned.length > 0, PATIENCE)
  stop.abort()
  await running
  expect(warned).toEqual([
    { warning: expect.stringContaining(`queue "mail-removal" has ${JOBS} jobs`) },
  ])
})
