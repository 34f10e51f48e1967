import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

import type { PostgresPlatform } from '#platform/postgres/postgres.ts'
import { installQueue } from '#platform/queue/install-queue.ts'
import { type PostgresQueue, openQueue } from '#platform/queue/postgres-queue.ts'
import type { HandleOptions, QueueJobs } from '#platform/queue/queue.ts'
import { type TestDatabase, asAdmin, openDatabase } from '#test/postgres.ts'
import { silentLog } from '#test/silent-log.ts'

const POLICY = { retries: 2, firstRetrySeconds: 1, lastRetrySeconds: 2, maxRunSeconds: 60 }
const PATIENCE = { timeout: 40_000, interval: 5 }

type Job = QueueJobs['site-cleanup']

let postgres: PostgresPlatform & TestDatabase
let cleanUp: AsyncDisposableStack
/** What was sent for claims and for completions. */
let sent: ('claim' | 'complete')[]
beforeEach(async () => {
  sent = []
  cleanUp = new AsyncDisposableStack()
  postgres = cleanUp.use(await openDatabase())
  await asAdmin((owner) => installQueue(owner, { 'site-cleanup': POLICY }), postgres.url)
})
afterEach(() => cleanUp.disposeAsync())

async function work(
  handle: (job: Job) => Promise<void>,
  options: HandleOptions<Job>,
): Promise<PostgresQueue> {
  const statements: PostgresPlatform['statements'] = (text, parameters) => {
    if (text.includes('claim_turns') && parameters[0] === 'site-cleanup') sent.push('claim')
    if (text.includes("state = 'completed'")) sent.push('complete')
    return postgres.statements(text, parameters)
  }
  const queue = cleanUp.use(await openQueue({ log: silentLog, ...postgres, statements }))
  queue.handle('site-cleanup', handle, options)
  const stopping = new AbortController()
  const running = queue.run(stopping.signal)
  cleanUp.defer(() => {
    stopping.abort()
    return running
  })
  return queue
}

const put = (queue: PostgresQueue, siteIds: readonly string[]) =>
  postgres.database.withDirectory((tx) =>
    queue.enqueueAll(
      tx,
      'site-cleanup',
      siteIds.map((siteId) => ({ job: { siteId } })),
    ),
  )

const counted = (what: 'claim' | 'complete') => sent.filter((each) => each === what).length

const openJobs = async () => {
  const [row] = await postgres.sql<{ count: number }[]>`
    select count(*)::int as count from pgboss.job where name = 'site-cleanup' and state <> 'completed'`
  return row?.count
}

const idle = () => vi.waitUntil(async () => (await openJobs()) === 0, PATIENCE)

describe('a queue', () => {
  test('asks once for a job that comes alone, and not again when it has ended', async () => {
    const queue = await work(async () => {}, { concurrency: 4, oneEach: 4 })
    await vi.waitUntil(() => counted('claim') > 0, PATIENCE)
    const before = counted('claim')
    for (let job = 0; job < 10; job += 1) {
      await put(queue, [`site${job}`])
      await idle()
    }
    // A poll may come in between.
    expect(counted('claim') - before).toBeLessThanOrEqual(13)
  })

  test('marks jobs as done together that end while others are being marked', async () => {
    let ended = 0
    const queue = await work(async () => void (ended += 1), { concurrency: 40 })
    await put(
      queue,
      Array.from({ length: 200 }, (_, at) => `site${at}`),
    )
    await idle()
    expect(ended).toBe(200)
    expect(counted('complete')).toBeLessThan(100)
  })

  test('begins what waits for a place as soon as one is free, also beyond the bound of a site', async () => {
    const begun: { readonly siteId: string; readonly end: () => void }[] = []
    const hold = ({ siteId }: Job) =>
      new Promise<void>((resolve) => begun.push({ siteId, end: resolve }))
    const queue = await work(hold, { concurrency: 3, perSite: 2 })
    cleanUp.defer(() => begun.forEach(({ end }) => end()))
    await put(queue, ['busy', 'busy', 'busy', 'busy', 'calm'])
    for (let count = 3; count <= 5; count += 1) {
      // Sooner than the poll.
      await vi.waitUntil(() => begun.length === count, { timeout: 1500, interval: 5 })
      begun.filter(({ siteId }) => siteId === 'busy')[count - 3]?.end()
    }
    expect(begun.map(({ siteId }) => siteId).slice(3)).toEqual(['busy', 'busy'])
  })
})
