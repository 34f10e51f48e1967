import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

import { type PostgresPlatform, connectPostgres } from '#platform/postgres/postgres.ts'
import { installQueue } from '#platform/queue/install-queue.ts'
import { type PostgresQueue, openQueue } from '#platform/queue/postgres-queue.ts'
import { type HandleOptions, type QueueJobs, TransientFailure } from '#platform/queue/queue.ts'
import { type TestDatabase, asAdmin, openDatabase } from '#test/postgres.ts'
import { silentLog } from '#test/silent-log.ts'
import { jobsAhead } from '#test/turns.ts'

const POLICY = { retries: 2, firstRetrySeconds: 1, lastRetrySeconds: 2, maxRunSeconds: 60 }
const PATIENCE = { timeout: 40_000, interval: 5 }
const MANY = 100_000
/** Reading past the jobs takes thousands. */
const FEW_PAGES = 1000

type Job = QueueJobs['mail-delivery']
type Options = HandleOptions<Job>

let postgres: PostgresPlatform & TestDatabase
let cleanUp: AsyncDisposableStack
/** They are opened before a replica waits for its jobs. */
let gates: Gate[]
beforeEach(async () => {
  gates = []
  cleanUp = new AsyncDisposableStack()
  postgres = cleanUp.use(await openDatabase())
  await asAdmin((owner) => installQueue(owner, { 'mail-delivery': POLICY }), postgres.url)
})
afterEach(() => cleanUp.disposeAsync())

/** A replica that runs jobs until the test ends. */
async function work(
  handle: (job: Job) => Promise<void>,
  options: Options,
  platform: PostgresPlatform = postgres,
): Promise<PostgresQueue> {
  const queue = cleanUp.use(await openQueue({ log: silentLog, ...platform }))
  queue.handle('mail-delivery', handle, options)
  const stopping = new AbortController()
  const running = queue.run(stopping.signal)
  cleanUp.defer(() => {
    stopping.abort()
    for (const each of gates) each.open()
    return running
  })
  return queue
}

/** One that only queues. */
const open = async () => cleanUp.use(await openQueue({ log: silentLog, ...postgres }))

const jobsOf = (siteId: string, domains: readonly string[]) =>
  domains.map((domain, index) => ({
    job: { siteId, messageId: String(index), recipient: `ann@${domain}` },
    group: domain,
  }))

const put = (queue: PostgresQueue, siteId: string, domains: readonly string[]) =>
  postgres.database.withDirectory((tx) =>
    queue.enqueueAll(tx, 'mail-delivery', jobsOf(siteId, domains)),
  )

const times = (count: number, domain: string): string[] => Array(count).fill(domain)
const numbered = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `d${index}.example`)

/** Work that ends when the test says so, one after the other. */
class Gate {
  readonly begun: Job[] = []
  readonly #ends: (() => void)[] = []
  #isOpen = false

  readonly work = async (job: Job): Promise<void> => {
    this.begun.push(job)
    if (this.#isOpen) return
    await new Promise<void>((resolve) => this.#ends.push(resolve))
  }

  endOne(): void {
    this.#ends.shift()?.()
  }

  open = (): void => {
    this.#isOpen = true
    for (const end of this.#ends) end()
  }

  get sites(): string[] {
    return this.begun.map(({ siteId }) => siteId)
  }

  get domains(): string[] {
    return this.begun.map(({ recipient }) => recipient.slice('ann@'.length))
  }

  /** Ends one after the other, and waits for the next to begin, until so many have begun. */
  async until(count: number): Promise<void> {
    while (this.begun.length < count) {
      const { length } = this.begun
      this.endOne()
      await vi.waitUntil(() => this.begun.length > length, PATIENCE)
    }
  }
}

function gate(): Gate {
  const made = new Gate()
  gates.push(made)
  return made
}

describe('sites that share a queue', () => {
  test('take turns: a single job passes the backlog of another site', async () => {
    const queue = await open()
    const seen: ('flood' | 'single')[] = []
    const note = async ({ siteId }: Job) => void seen.push(siteId === 'flood' ? 'flood' : 'single')
    const ahead = jobsAhead({
      floodSize: 400,
      flood: async () => {
        await put(queue, 'flood', numbered(400))
        await work(note, { concurrency: 4 })
      },
      single: () => put(queue, 'single', ['example.org']),
      begun: () => seen,
    })
    expect(await ahead).toBeLessThan(40)
  })

  test('begin one job each before any begins a second, whatever came first', async () => {
    const queue = await open()
    for (const site of ['a', 'b', 'c']) await put(queue, site, times(5, 'example.org'))
    const gated = gate()
    await work(gated.work, { concurrency: 1 })
    await vi.waitUntil(() => gated.begun.length > 0, PATIENCE)
    await put(queue, 'd', ['example.org'])
    await gated.until(16)
    expect(gated.sites.slice(0, 4).toSorted()).toEqual(['a', 'b', 'c', 'd'])
    expect(gated.sites.slice(4, 7).toSorted()).toEqual(['a', 'b', 'c'])
  })

  test('begin in another order after each pause', async () => {
    const queue = await open()
    const firsts = new Set<string>()
    const seen: string[] = []
    await work(async ({ siteId }) => void seen.push(siteId), { concurrency: 1 })
    const sites = Array.from({ length: 8 }, (_, index) => `site${index}`)
    for (let round = 0; round < 40 && firsts.size < 2; round++) {
      seen.length = 0
      await postgres.database.withDirectory((tx) =>
        queue.enqueueAll(
          tx,
          'mail-delivery',
          sites.flatMap((site) => jobsOf(site, ['example.org'])),
        ),
      )
      await vi.waitUntil(() => seen.length === sites.length, PATIENCE)
      firsts.add(seen[0] ?? '')
    }
    expect(firsts.size).toBeGreaterThan(1)
  })

  test('hold a place each beside those that one may fill', async () => {
    const queue = await open()
    const gated = gate()
    await put(queue, 'flood', numbered(50))
    await work(gated.work, { concurrency: 3, oneEach: 2 })
    await vi.waitUntil(() => gated.begun.length === 4, PATIENCE)
    await put(queue, 'one', ['example.org'])
    await vi.waitUntil(() => gated.sites.includes('one'), PATIENCE)
    expect(gated.sites).toEqual([...times(4, 'flood'), 'one'])
  })

  test('run no more of their jobs at once, in all processes, than they may', async () => {
    const queue = await open()
    const other = cleanUp.use(
      await connectPostgres({ url: postgres.url, log: silentLog, poolSize: 4 }),
    )
    const gated = gate()
    await put(queue, 'busy', numbered(20))
    await work(gated.work, { concurrency: 4, perSite: 2 })
    await vi.waitUntil(() => gated.begun.length === 2, PATIENCE)
    await work(gated.work, { concurrency: 4, perSite: 2 }, other)
    await put(queue, 'calm', numbered(2))
    await vi.waitUntil(() => gated.begun.length === 4, PATIENCE)
    expect(gated.sites.toSorted()).toEqual(['busy', 'busy', 'calm', 'calm'])
    gated.endOne()
    await vi.waitUntil(() => gated.begun.length === 5, PATIENCE)
    expect(gated.sites.at(-1)).toBe('busy')
  })
})

describe('the groups of a site', () => {
  test('take turns, too', async () => {
    const queue = await open()
    const gated = gate()
    await put(queue, 'site', [...times(30, 'large.example'), ...times(30, 'huge.example')])
    await put(queue, 'site', ['small.example'])
    await work(gated.work, { concurrency: 1, perGroup: 2 })
    await vi.waitUntil(() => gated.begun.length > 0, PATIENCE)
    await gated.until(3)
    expect(gated.domains.toSorted()).toEqual(['huge.example', 'large.example', 'small.example'])
  })

  test('keep the order in which their jobs came', async () => {
    const queue = await open()
    const gated = gate()
    for (let index = 0; index < 12; index++) {
      await postgres.database.withDirectory((tx) =>
        queue.enqueueAll(tx, 'mail-delivery', [
          {
            job: { siteId: 'site', messageId: String(index), recipient: 'ann@example.org' },
            group: index % 2 === 0 ? 'even.example' : 'odd.example',
          },
        ]),
      )
    }
    await work(gated.work, { concurrency: 1, perGroup: 2 })
    await vi.waitUntil(() => gated.begun.length > 0, PATIENCE)
    await gated.until(12)
    const ids = gated.begun.map(({ messageId }) => Number(messageId))
    expect(ids.filter((id) => id % 2 === 0)).toEqual([0, 2, 4, 6, 8, 10])
    expect(ids.filter((id) => id % 2 === 1)).toEqual([1, 3, 5, 7, 9, 11])
  })

  test('that have as many running as they may hold up none of the others', async () => {
    const queue = await open()
    const gated = gate()
    await put(queue, 'site', times(200, 'full.example'))
    await work(gated.work, { concurrency: 6, perGroup: 2 })
    await vi.waitUntil(() => gated.begun.length === 2, PATIENCE)
    await put(queue, 'site', ['last.example'])
    await vi.waitUntil(() => gated.begun.length === 3, PATIENCE)
    expect(gated.domains).toEqual(['full.example', 'full.example', 'last.example'])
  })
})

describe('places of their own', () => {
  test('keep jobs that failed before from holding up first attempts, and the other way round', async () => {
    const queue = await open()
    const gated = gate()
    const failed = new Set<string>()
    const handle = async (job: Job): Promise<void> => {
      const isFirst = !failed.has(job.recipient)
      failed.add(job.recipient)
      if (isFirst && job.siteId === 'broken') throw new TransientFailure('away')
      await gated.work(job)
    }
    await put(queue, 'broken', numbered(10))
    await work(handle, { concurrency: 2, retryPlaces: 1 })
    await vi.waitUntil(() => failed.size === 10 && gated.begun.length === 1, PATIENCE)
    await put(queue, 'fresh', numbered(10))
    await vi.waitUntil(() => gated.begun.length === 3, PATIENCE)
    expect(gated.sites).toEqual(['broken', 'fresh', 'fresh'])
    gated.endOne()
    await vi.waitUntil(() => gated.begun.length === 4, PATIENCE)
    expect(gated.sites.at(-1)).toBe('broken')
  })

  test('take what runs for long, and then others of its group', async () => {
    const queue = await open()
    const gated = gate()
    await put(queue, 'site', [...times(2, 'slow.example'), ...times(2, 'lame.example')])
    await work(gated.work, { concurrency: 1, perGroup: 5, slow: { afterMs: 50, places: 2 } })
    await vi.waitUntil(() => gated.begun.length === 2, PATIENCE)
    await put(queue, 'site', ['quick.example'])
    await vi.waitUntil(() => gated.begun.length === 3, PATIENCE)
    expect(gated.domains.toSorted()).toEqual(['lame.example', 'quick.example', 'slow.example'])
  })
})

describe(`a claim among ${MANY} waiting jobs`, () => {
  const fill = (columns: { site: string; group: string; state: string; due: string }) =>
    asAdmin(
      (owner) =>
        owner.unsafe(
          `insert into pgboss.job (name, data, policy, state, group_id, singleton_key, start_after)
           select 'mail-delivery', jsonb_build_object('siteId', ${columns.site}, 'messageId', n::text,
             'recipient', 'ann@example.org'), 'short', '${columns.state}', ${columns.group},
             n::text, ${columns.due}
           from generate_series(1, ${MANY}) n`,
        ),
      postgres.url,
    )

  /** Pages that one claim reads, of indexes and of the table. */
  async function readByClaim(state: string): Promise<number> {
    let pages = Number.NaN
    await asAdmin(async (owner) => {
      // The first one also reads what the plans are made of.
      for (const turn of ['-1', '1']) {
        const rows = await owner<{ 'QUERY PLAN': string }[]>`
          explain (analyze, buffers, timing off) select * from pgboss.claim_turns_3('mail-delivery',
            1, array[${state}]::pgboss.job_state[], ${turn}::bigint, '{}', null, 2, '{}')`
        const line = rows.map((row) => row['QUERY PLAN']).find((text) => text.includes('Buffers:'))
        pages = Number(/shared hit=(\d+)/.exec(line ?? '')?.[1])
      }
    }, postgres.url)
    return pages
  }

  test.each([
    ['of one site, all to a group that is full', 'full'],
    ['of one site, each to another group', 'groups'],
    ['of as many groups that wait for another try', 'retries'],
    ['of 5,000 sites that wait for another try', 'sites'],
  ])('%s reads a few rows', async (_name, kind) => {
    const columns = {
      full: { site: `'flood'`, group: `'full.example'`, state: 'created', due: 'now()' },
      groups: { site: `'flood'`, group: `'d' || n`, state: 'created', due: 'now()' },
      retries: {
        site: `'flood'`,
        group: `'d' || n`,
        state: 'retry',
        due: `now() + interval '1 h'`,
      },
      sites: {
        site: `'site' || n % 5000`,
        group: `'d' || n`,
        state: 'retry',
        due: `now() + interval '1 h'`,
      },
    }[kind]
    if (!columns) throw new Error(kind)
    await fill(columns)
    const gated = gate()
    const queue = await work(gated.work, { concurrency: 6, perGroup: 2 })
    if (kind === 'full') await vi.waitUntil(() => gated.begun.length === 2, PATIENCE)
    if (kind === 'groups') await vi.waitUntil(() => gated.begun.length === 6, PATIENCE)
    await put(queue, 'quiet', ['example.org'])
    gated.endOne()
    await vi.waitUntil(() => gated.sites.includes('quiet'), PATIENCE)
    expect(await readByClaim(columns.state)).toBeLessThan(FEW_PAGES)
  })
})
