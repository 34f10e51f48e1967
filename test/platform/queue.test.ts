import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

import { sql as kyselySql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

import { AppError } from '#base/app-error.ts'
import type { Logger } from '#platform/log/logger.ts'
import { type PostgresPlatform, connectPostgres } from '#platform/postgres/postgres.ts'
import { installQueue } from '#platform/queue/install-queue.ts'
import { type PostgresQueue, openQueue } from '#platform/queue/postgres-queue.ts'
import { TransientFailure } from '#platform/queue/queue.ts'
import { deadLetters } from '#test/dead-letters.ts'
import { type TestDatabase, asAdmin, openDatabase } from '#test/postgres.ts'
import { silentLog } from '#test/silent-log.ts'
import { TcpProxy } from '#test/tcp-proxy.ts'

const POLICY = { retries: 2, firstRetrySeconds: 1, lastRetrySeconds: 2, maxRunSeconds: 60 }
const WORKER = join(import.meta.dirname, '../processes/queue-worker.ts')
const PATIENCE = { timeout: 40_000, interval: 20 }
/** How soon a job of a process that died is another's. */
const TAKEN_OVER_MS = 5000

let postgres: PostgresPlatform & TestDatabase
let cleanUp: AsyncDisposableStack
beforeEach(async () => {
  cleanUp = new AsyncDisposableStack()
  postgres = cleanUp.use(await openDatabase())
  await asAdmin((owner) => installQueue(owner, { 'site-cleanup': POLICY }), postgres.url)
})
afterEach(() => cleanUp.disposeAsync())

type Handle = (siteId: string, signal: AbortSignal) => Promise<void>

/** A replica of the queue, working until the test ends. */
async function replica(
  handle: Handle,
  platform: PostgresPlatform & { readonly log?: Logger } = postgres,
): Promise<PostgresQueue & { stop(): Promise<void> }> {
  const queue = cleanUp.use(await openQueue({ log: silentLog, ...platform }))
  queue.handle('site-cleanup', ({ siteId }, signal) => handle(siteId, signal), { concurrency: 2 })
  const stopping = new AbortController()
  const running = queue.run(stopping.signal)
  const stop = () => {
    stopping.abort()
    return running
  }
  cleanUp.defer(stop)
  return Object.assign(queue, { stop })
}

const enqueue = (
  queue: PostgresQueue,
  siteId: string,
  options?: { singletonKey?: string; startAfterSeconds?: number },
) => postgres.database.withDirectory((tx) => queue.enqueue(tx, 'site-cleanup', { siteId }, options))

const waitingJobs = async () => {
  const [row] = await postgres.sql<{ count: number }[]>`
    select count(*)::int as count from pgboss.job where name = 'site-cleanup' and state < 'active'`
  return row?.count
}

/** Of this database's workers, those whose look for a job is held up by a lock. */
const fetchesThatWait = async () => {
  let count = 0
  await asAdmin(async (admin) => {
    const waiting = await admin`
      select pid from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query ilike '%claim_turns%'`
    count = waiting.length
  }, postgres.url)
  return count
}

const jobCounts = () => postgres.sql<{ retriesLeft: number }[]>`
  select retry_limit - retry_count as "retriesLeft" from pgboss.job where name = 'site-cleanup'`

describe('a job', () => {
  test('runs once its transaction has committed', async () => {
    const seen: string[] = []
    const queue = await replica(async (siteId) => void seen.push(siteId))
    await postgres.database.withDirectory(async (tx) => {
      await queue.enqueue(tx, 'site-cleanup', { siteId: 'a' })
      await tx.db.selectFrom('site').select('site_id').execute()
      expect(seen).toEqual([])
    })
    await vi.waitFor(() => expect(seen).toEqual(['a']), PATIENCE)
  })

  test('never was when its transaction rolls back', async () => {
    const queue = cleanUp.use(await openQueue({ ...postgres, log: silentLog }))
    const lost = postgres.database.withDirectory(async (tx) => {
      await queue.enqueue(tx, 'site-cleanup', { siteId: 'a' })
      throw new Error('no')
    })
    await expect(lost).rejects.toThrow('no')
    expect(await waitingJobs()).toBe(0)
  })

  test('waits out its delay', async () => {
    const seen: number[] = []
    const queue = await replica(async () => void seen.push(performance.now()))
    const start = performance.now()
    await enqueue(queue, 'a', { startAfterSeconds: 2 })
    await vi.waitFor(() => expect(seen).toHaveLength(1), PATIENCE)
    expect((seen[0] ?? 0) - start).toBeGreaterThan(1900)
  })

  test('joins the one that waits with the same key', async () => {
    const queue = cleanUp.use(await openQueue({ ...postgres, log: silentLog }))
    for (let count = 0; count < 3; count++) await enqueue(queue, 'a', { singletonKey: 'a' })
    await enqueue(queue, 'b', { singletonKey: 'b' })
    expect(await waitingJobs()).toBe(2)
  })

  test('does not join one that runs already: it may have read too early', async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>()
    let runs = 0
    const queue = await replica(async () => {
      runs += 1
      await gate
    })
    await enqueue(queue, 'a', { singletonKey: 'a' })
    await vi.waitFor(() => expect(runs).toBe(1), PATIENCE)
    await enqueue(queue, 'a', { singletonKey: 'a' })
    open()
    await vi.waitFor(() => expect(runs).toBe(2), PATIENCE)
  })

  test('joins no other when it has no key', async () => {
    const queue = cleanUp.use(await openQueue({ ...postgres, log: silentLog }))
    for (let count = 0; count < 3; count++) await enqueue(queue, 'a')
    expect(await waitingJobs()).toBe(3)
  })

  test('is logged with its stack when it fails, and without when what fails is known', async () => {
    const lines: object[] = []
    const log = { ...silentLog, warn: (fields: object) => lines.push(fields) }
    const broken = new Error('broken')
    const queue = await replica(
      (siteId) => Promise.reject(siteId === 'a' ? broken : new TransientFailure('away')),
      { ...postgres, log },
    )
    await enqueue(queue, 'a')
    await enqueue(queue, 'b')
    await vi.waitFor(() => expect(lines.length).toBeGreaterThan(1), PATIENCE)
    const about = { queue: 'site-cleanup', jobId: expect.any(String), attempt: 1 }
    expect(lines).toContainEqual({ ...about, err: broken })
    expect(lines).toContainEqual({ ...about, reason: 'away' })
  })

  test('is tried again after growing pauses, then kept as a dead letter', async () => {
    const runs: number[] = []
    const queue = await replica(async () => {
      runs.push(performance.now())
      throw new Error('the store is away')
    })
    await enqueue(queue, 'a')
    await vi.waitFor(
      async () =>
        expect(await deadLetters(postgres.sql, 'site-cleanup')).toMatchObject([
          { job: { siteId: 'a' }, reason: 'the store is away', failedAt: expect.any(Date) },
        ]),
      PATIENCE,
    )
    expect(runs).toHaveLength(3)
    const [first = 0, second = 0] = runs
    expect(second - first).toBeGreaterThan(900)
  })
})

describe('the workers', () => {
  test('start a job within a fraction of their poll', async () => {
    const waits: number[] = []
    let enqueuedAt = 0
    const queue = await replica(async () => void waits.push(performance.now() - enqueuedAt))
    for (let count = 1; count <= 20; count++) {
      await enqueue(queue, 'a')
      enqueuedAt = performance.now()
      await vi.waitFor(() => expect(waits).toHaveLength(count), { timeout: 30_000, interval: 1 })
    }
    const median = waits.toSorted((a, b) => a - b)[10] ?? Infinity
    expect(median).toBeLessThan(500)
  })

  test('empty a backlog without a pause between jobs', async () => {
    const queue = cleanUp.use(await openQueue({ ...postgres, log: silentLog }))
    await postgres.database.withDirectory(async (tx) => {
      for (let count = 0; count < 40; count++) {
        await queue.enqueue(tx, 'site-cleanup', { siteId: String(count) })
      }
    })
    const seen = new Set<string>()
    const start = performance.now()
    await replica(async (siteId) => void seen.add(siteId))
    await vi.waitFor(() => expect(seen.size).toBe(40), PATIENCE)
    expect(performance.now() - start).toBeLessThan(5000)
  })

  test('of two replicas run each job once', async () => {
    const other = cleanUp.use(
      await connectPostgres({ url: postgres.url, log: silentLog, poolSize: 4 }),
    )
    const seen: string[] = []
    const one = await replica(async (siteId) => void seen.push(siteId))
    await replica(async (siteId) => void seen.push(siteId), other)
    const all = Array.from({ length: 50 }, (_, index) => `s${index}`)
    await Promise.all(all.map((siteId) => enqueue(one, siteId)))
    await vi.waitFor(() => expect(seen.toSorted()).toEqual(all.toSorted()), PATIENCE)
  })

  test('of all replicas run so many jobs of one group at once, and those of others beside them', async () => {
    const other = cleanUp.use(
      await connectPostgres({ url: postgres.url, log: silentLog, poolSize: 4 }),
    )
    const { promise: gate, resolve: open } = Promise.withResolvers<void>()
    let [running, most] = [0, 0]
    const seen: string[] = []
    for (const platform of [postgres, other]) {
      const queue = cleanUp.use(await openQueue({ ...platform, log: silentLog }))
      const handle = async ({ siteId }: { readonly siteId: string }) => {
        running += siteId === 'busy' ? 1 : 0
        most = Math.max(most, running)
        if (siteId === 'busy') await gate
        running -= siteId === 'busy' ? 1 : 0
        seen.push(siteId)
      }
      queue.handle('site-cleanup', handle, { concurrency: 4, perGroup: 2 })
      const stopping = new AbortController()
      const working = queue.run(stopping.signal)
      cleanUp.defer(() => {
        stopping.abort()
        return working
      })
      if (platform === other) {
        // One after the other: what is claimed at the very same moment does not see each other.
        for (let count = 0; count < 6; count++) {
          const options = { group: 'busy' }
          await postgres.database.withDirectory((tx) =>
            queue.enqueue(tx, 'site-cleanup', { siteId: 'busy' }, options),
          )
          if (count < 2) await vi.waitUntil(() => running > count, PATIENCE)
        }
        await postgres.database.withDirectory((tx) =>
          queue.enqueue(tx, 'site-cleanup', { siteId: 'calm' }, { group: 'calm' }),
        )
      }
    }
    await vi.waitFor(() => expect(seen).toEqual(['calm']), PATIENCE)
    expect([running, most]).toEqual([2, 2])
    open()
    await vi.waitFor(() => expect(seen).toHaveLength(7), PATIENCE)
  })

  test('take a job of a group that has none running, whatever others hold', async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>()
    const begun: string[] = []
    const queue = cleanUp.use(await openQueue({ ...postgres, log: silentLog }))
    const handle = async ({ siteId }: { readonly siteId: string }) => {
      begun.push(siteId)
      await gate
    }
    queue.handle('site-cleanup', handle, { concurrency: 3, perSite: 8, oneEach: 3 })
    const stopping = new AbortController()
    const working = queue.run(stopping.signal)
    cleanUp.defer(() => {
      open()
      stopping.abort()
      return working
    })
    const put = async (siteId: string) => {
      await postgres.database.withDirectory((tx) =>
        queue.enqueue(tx, 'site-cleanup', { siteId }, { group: siteId }),
      )
    }
    for (let count = 0; count < 8; count++) await put('busy')
    await vi.waitUntil(() => begun.length >= 3, PATIENCE)
    await put('one')
    await put('two')
    await vi.waitFor(() => expect(begun).toEqual(expect.arrayContaining(['one', 'two'])), PATIENCE)
    open()
    await vi.waitFor(() => expect(begun).toHaveLength(10), PATIENCE)
  })

  test('hand back what they run when they are aborted, and another has it at once', async () => {
    const { promise: begun, resolve: begin } = Promise.withResolvers<AbortSignal>()
    const queue = cleanUp.use(await openQueue({ ...postgres, log: silentLog }))
    // One ends with the signal, the other never.
    queue.handle(
      'site-cleanup',
      ({ siteId }, signal) =>
        new Promise((_resolve, reject) => {
          if (siteId === 'heeds') signal.addEventListener('abort', () => reject(new Error('told')))
          if (siteId === 'deaf') begin(signal)
        }),
      { concurrency: 2 },
    )
    const [stop, handBack] = [new AbortController(), new AbortController()]
    const working = queue.run(stop.signal, handBack.signal)
    await enqueue(queue, 'heeds')
    await enqueue(queue, 'deaf')
    const signal = await begun
    await vi.waitUntil(async () => (await waitingJobs()) === 0, PATIENCE)
    stop.abort()
    expect(signal.aborted).toBe(false)
    handBack.abort()
    await working
    expect(signal.aborted).toBe(true)
    expect(await waitingJobs()).toBe(2)
    expect(await jobCounts()).toEqual(Array(2).fill({ retriesLeft: POLICY.retries + 1 }))

    const seen: string[] = []
    await replica(async (siteId) => void seen.push(siteId))
    await vi.waitFor(() => expect(seen.toSorted()).toEqual(['deaf', 'heeds']), PATIENCE)
    expect(await jobCounts()).toEqual(Array(2).fill({ retriesLeft: POLICY.retries }))
  })

  test('keep a job that found the disk full for later, and it is as if it had not been tried', async () => {
    const { promise: tried, resolve } = Promise.withResolvers<void>()
    const warn = vi.fn<Logger['warn']>()
    const queue = await replica(
      async () => {
        resolve()
        throw new Error('not written', { cause: new AppError('DiskFull', 'no room') })
      },
      { ...postgres, log: { ...silentLog, warn } },
    )
    await enqueue(queue, 'one')
    await tried
    await vi.waitFor(async () => expect(await waitingJobs()).toBe(1), PATIENCE)
    expect(await jobCounts()).toEqual([{ retriesLeft: POLICY.retries + 1 }])
    const [row] = await postgres.sql<{ later: boolean }[]>`
      select start_after > now() + interval '20 s' as later from pgboss.job where name = 'site-cleanup'`
    expect(row).toEqual({ later: true })
    expect(warn).not.toHaveBeenCalled()
  })

  test('are called with a job that failed to the end', async () => {
    const queue = cleanUp.use(await openQueue({ ...postgres, log: silentLog }))
    const told: string[] = []
    const fail = () => Promise.reject(new Error('no'))
    const givenUp = async ({ siteId }: { readonly siteId: string }) => void told.push(siteId)
    queue.handle('site-cleanup', fail, { givenUp })
    const stopping = new AbortController()
    const working = queue.run(stopping.signal)
    cleanUp.defer(() => {
      stopping.abort()
      return working
    })
    await enqueue(queue, 'a')
    await vi.waitFor(() => expect(told).toEqual(['a']), PATIENCE)
    expect(await deadLetters(postgres.sql, 'site-cleanup')).toMatchObject([{ reason: 'no' }])
  })

  test('finish what they run before they stop', async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>()
    const events: string[] = []
    const queue = await replica(async () => {
      events.push('started')
      await gate
      events.push('finished')
    })
    await enqueue(queue, 'a')
    await vi.waitFor(() => expect(events).toEqual(['started']), PATIENCE)
    const stopped = queue.stop().then(() => events.push('stopped'))
    await enqueue(queue, 'b')
    open()
    await stopped
    expect(events).toEqual(['started', 'finished', 'stopped'])
    expect(await waitingJobs()).toBe(1)
  })

  test('give back at once, unstarted, what a fetch brings after the stop', async () => {
    const events: string[] = []
    await enqueue(cleanUp.use(await openQueue({ ...postgres, log: silentLog })), 'late')
    const stopped = await postgres.database.withDirectory(async (tx) => {
      await kyselySql`lock table pgboss.job in exclusive mode`.execute(tx.db)
      const queue = await replica(async (siteId) => void events.push(siteId))
      await expect.poll(fetchesThatWait).toBe(1)
      return { stopping: queue.stop() }
    })
    await stopped.stopping
    expect(events).toEqual([])
    expect(await waitingJobs()).toBe(1)

    await replica(async (siteId) => void events.push(`${siteId} elsewhere`))
    await vi.waitFor(() => expect(events).toEqual(['late elsewhere']), PATIENCE)
    expect(await jobCounts()).toEqual([{ retriesLeft: POLICY.retries }])
  })
})

describe('a process that holds a job', () => {
  /** Runs the job until the claim is gone, or the test over. */
  const holds =
    (events: string[]): Handle =>
    (_siteId, signal) =>
      new Promise((resolve, reject) => {
        events.push('held')
        cleanUp.defer(resolve)
        signal.addEventListener('abort', () => {
          events.push('given up')
          reject(new Error('gone'))
        })
      })

  test('and is cut off from the database gives it up before another has it', async () => {
    const proxy = cleanUp.use(await TcpProxy.start(postgres.url))
    const cut = cleanUp.use(await connectPostgres({ url: proxy.url, log: silentLog, poolSize: 2 }))
    const events: string[] = []
    await replica(holds(events), cut)
    await enqueue(cleanUp.use(await openQueue({ ...postgres, log: silentLog })), 'a')
    await vi.waitFor(() => expect(events).toEqual(['held']), PATIENCE)
    await replica(async () => void events.push('taken over'))
    proxy.cutOff()
    await vi.waitFor(() => expect(events).toContain('taken over'), PATIENCE)
    expect(events).toEqual(['held', 'given up', 'taken over'])
  })

  test('keeps it when its sessions end and it begins others', async () => {
    const events: string[] = []
    const queue = await replica(holds(events))
    await enqueue(queue, 'a')
    await vi.waitFor(() => expect(events).toEqual(['held']), PATIENCE)
    const other = cleanUp.use(
      await connectPostgres({ url: postgres.url, log: silentLog, poolSize: 2 }),
    )
    await replica(async () => void events.push('taken over'), other)
    await asAdmin(
      (admin) => admin`select pg_terminate_backend(pid) from pg_locks
        where locktype = 'advisory' and objid = ${postgres.holder ?? 0}::int::oid`,
      postgres.url,
    )
    const endedMs = performance.now()
    await vi.waitUntil(() => performance.now() - endedMs > TAKEN_OVER_MS, PATIENCE)
    expect(events).toEqual(['held'])
  })
})

describe('a worker process', () => {
  const workers: ChildProcess[] = []
  afterEach(() => {
    for (const worker of workers.splice(0)) worker.kill('SIGKILL')
  })
  const spawnWorker = (runtime: string, mode: string) => {
    const worker = spawn(runtime, [WORKER, postgres.url, mode], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    workers.push(worker)
    if (!worker.stdout) throw new Error('The worker has no output')
    return { worker, firstLine: once(worker.stdout, 'data').then(([line]) => String(line).trim()) }
  }

  test('that is killed leaves its job to another', async () => {
    const { worker, firstLine } = spawnWorker(process.execPath, 'hang')
    const queue = cleanUp.use(await openQueue({ ...postgres, log: silentLog }))
    await enqueue(queue, 'a')
    expect(await firstLine).toBe('a')
    const seen: string[] = []
    await replica(async (siteId) => void seen.push(siteId))
    worker.kill('SIGKILL')
    const killedMs = performance.now()
    await vi.waitFor(() => expect(seen).toEqual(['a']), PATIENCE)
    expect(performance.now() - killedMs).toBeLessThan(TAKEN_OVER_MS)
    expect(await jobCounts()).toEqual([{ retriesLeft: POLICY.retries - 1 }])
  })

  test('works under Bun', async () => {
    const bun = join(import.meta.dirname, '../../node_modules/.bin/bun')
    const { worker, firstLine } = spawnWorker(bun, 'once')
    expect(await firstLine).toBe('by-itself')
    expect(await once(worker, 'exit')).toEqual([0, null])
  })
})
