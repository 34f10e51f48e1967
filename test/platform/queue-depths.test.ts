import { afterAll, beforeAll, expect, test, vi } from 'vitest'

import { installQueue } from '#platform/queue/install-queue.ts'
import { type PostgresQueue, openQueue } from '#platform/queue/postgres-queue.ts'
import { asAdmin, openDatabase } from '#test/postgres.ts'
import { silentLog } from '#test/silent-log.ts'

const POLICY = { retries: 2, firstRetrySeconds: 1, lastRetrySeconds: 2, maxRunSeconds: 60 }
/** Longer than two looks while there are jobs, and much shorter than the time between two while there are none. */
const PATIENCE = { timeout: 15_000, interval: 100 }

const cleanUp = new AsyncDisposableStack()
const release = Promise.withResolvers<void>()
let queue: PostgresQueue
let enqueue: (siteId: string) => Promise<void>
beforeAll(async () => {
  const postgres = cleanUp.use(await openDatabase())
  await asAdmin((owner) => installQueue(owner, { 'site-cleanup': POLICY }), postgres.url)
  queue = cleanUp.use(await openQueue({ ...postgres, log: silentLog }))
  queue.handle('site-cleanup', () => release.promise, { concurrency: 2 })
  const stopping = new AbortController()
  const running = queue.run(stopping.signal)
  cleanUp.defer(() => {
    stopping.abort()
    return running
  })
  enqueue = (siteId) =>
    postgres.database.withDirectory((tx) => queue.enqueue(tx, 'site-cleanup', { siteId }))
})
afterAll(() => cleanUp.disposeAsync())

const depth = async () =>
  (await queue.depths()).find(({ queue: name }) => name === 'site-cleanup') ?? {}

test('the jobs of a queue are counted within seconds after a rest, and so is their end', async () => {
  // What a queue does at rest begins.
  await vi.waitFor(async () => expect(await depth()).toMatchObject({ ready: 0, active: 0 }))
  await Promise.all(['one', 'two', 'three'].map((siteId) => enqueue(siteId)))
  await vi.waitFor(
    async () => expect(await depth()).toMatchObject({ ready: 1, active: 2 }),
    PATIENCE,
  )
  release.resolve()
  await vi.waitFor(
    async () => expect(await depth()).toMatchObject({ ready: 0, active: 0 }),
    PATIENCE,
  )
})
