import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { median } from '#bench/median.ts'
import { cpuMs } from '#platform/sandbox-host/process-usage.ts'
import { ChaosSite } from '#test/chaos-site.ts'
import { CroftProcess, freePort } from '#test/croft-process.ts'
import { copySite, domainOfCopy } from '#test/many-sites.ts'
import { portalOf } from '#test/operator.ts'
import { type TestDatabase, asAdmin, cloneDatabase } from '#test/postgres.ts'
import { memoryMib, pssMib } from '#test/process-memory.ts'
import { tellTallies } from '#test/tally.ts'
import { openFolder } from '#test/temporary-folder.ts'

const SITES = Number(process.env['CROFT_SCALE_SITES'] ?? 100_000)
const CALLED = Math.min(5000, SITES)
/** For sites whose calls are short. One more is for those that take longer. */
const ORDINARY_HOSTS = 2
const WARM_ISOLATES = 500
/** The work of each minute happens within it. */
const WATCHED_MS = 70_000
const REPORTED_MS = 2000
const WARM = { sites: 100, rounds: 20 }
const ORIGINAL = 'original.test'
const OPERATOR_KEY = randomBytes(32).toString('base64url')

const cleanUp = new AsyncDisposableStack()
let database: TestDatabase
let options: Parameters<typeof CroftProcess.start>[0]
let alone: Started
beforeAll(async () => {
  database = cleanUp.use(await cloneDatabase())
  const folder = await openFolder(cleanUp, 'croft-scale-')
  const env = {
    DATABASE_URL: database.url,
    CROFT_OPERATOR_KEY: OPERATOR_KEY,
    CROFT_SANDBOX_HOSTS: String(ORDINARY_HOSTS + 1),
    CROFT_SANDBOX_WARM_ISOLATES: String(WARM_ISOLATES),
  }
  options = { dataDir: join(folder, 'data'), env, port: await freePort() }
  const { croft } = await start()
  await ChaosSite.create(croft, OPERATOR_KEY, ORIGINAL)
  await croft.stop()
  alone = await start()
  await alone.croft.stop()
  await asAdmin((admin) => copySite(admin, ORIGINAL, SITES), database.url)
})
afterAll(() => cleanUp.disposeAsync())

interface Started {
  readonly croft: CroftProcess
  readonly startMs: number
}

async function start(): Promise<Started> {
  const beganMs = performance.now()
  const croft = cleanUp.use(await CroftProcess.start(options))
  return { croft, startMs: performance.now() - beganMs }
}

interface Counts {
  /** Rows that scans of whole tables have read, by table; of those that have a row for each site or more. */
  readonly scanned: ReadonlyMap<string, number>
  readonly transactions: number
}

async function counts(): Promise<Counts> {
  // Sessions tell what they did once a second.
  await delay(REPORTED_MS)
  const scanned = new Map<string, number>()
  let transactions = 0
  await asAdmin(async (admin) => {
    const tables = await admin<{ name: string; rows: string }[]>`
      select stats.relname as name, seq_tup_read as rows from pg_stat_user_tables stats
        join pg_class class on class.oid = relid where reltuples >= ${SITES * 0.9}`
    for (const { name, rows } of tables) scanned.set(name, Number(rows))
    const [row] = await admin<{ done: string }[]>`
      select xact_commit as done from pg_stat_database where datname = current_database()`
    transactions = Number(row?.done)
  }, database.url)
  return { scanned, transactions }
}

const grown = (before: Counts, after: Counts): Record<string, number> =>
  Object.fromEntries(
    [...after.scanned]
      .map(([name, rows]) => [name, rows - (before.scanned.get(name) ?? 0)] as const)
      .filter(([, rows]) => rows >= SITES),
  )

const cpuOf = (croft: CroftProcess): number =>
  [croft.pid, ...croft.processes().map(({ pid }) => pid)].reduce(
    (sum, pid) => sum + (cpuMs(pid) ?? 0),
    0,
  )

/** The status of each, and how long they took. */
async function callAll(croft: CroftProcess, numbers: readonly number[]) {
  const statuses = new Map<number, number>()
  const cpuBeforeMs = cpuOf(croft)
  const tookMs: number[] = []
  for (const number of numbers) {
    const beganMs = performance.now()
    const { status } = await croft.call({
      host: domainOfCopy(number),
      method: 'POST',
      path: '/data/public/echo',
      body: { payload: number },
    })
    tookMs.push(performance.now() - beganMs)
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }
  return {
    statuses: Object.fromEntries(statuses),
    p50Ms: median(tookMs),
    cpuMs: (cpuOf(croft) - cpuBeforeMs) / numbers.length,
  }
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1)

describe(`a database of ${SITES} sites`, () => {
  test('costs what is used of it: no start, no minute and no call reads a whole table', async () => {
    const before = await counts()
    expect(before.scanned.size).toBeGreaterThan(10)
    const { croft, startMs } = await start()
    await delay(WATCHED_MS)
    const afterMinute = await counts()
    const idle = { serviceMib: pssMib(croft.pid), allMib: memoryMib(croft) }
    const first = await callAll(croft, upTo(CALLED))
    const afterCalls = await counts()
    const called = { serviceMib: pssMib(croft.pid), allMib: memoryMib(croft) }
    // Those that were called first have no isolate any more.
    const cold = await callAll(croft, upTo(CALLED))
    const last = upTo(WARM.sites).map((number) => CALLED - number + 1)
    const warm = await callAll(
      croft,
      upTo(WARM.rounds).flatMap(() => last),
    )
    const portal = portalOf(croft, OPERATOR_KEY)
    const createdMs = await timed(() => portal.createSite('late.test'))
    const listMs = await timed(() => portal.sites())
    tellTallies({
      startMs: { one: alone.startMs, many: startMs },
      idle,
      called,
      knownSiteKib: ((called.serviceMib - idle.serviceMib) / CALLED) * 1024,
      warmSiteMib: warmMib(idle, called) / Math.min(CALLED, ORDINARY_HOSTS * WARM_ISOLATES),
      first,
      cold,
      warm,
      transactionsPerFirstCall: (afterCalls.transactions - afterMinute.transactions) / CALLED,
      createdMs,
      listMs,
    })

    expect(grown(before, afterMinute)).toEqual({})
    expect(grown(afterMinute, await counts())).toEqual({})
    expect(first.statuses).toEqual({ 200: CALLED })
    expect(cold.statuses).toEqual({ 200: CALLED })
    expect(warm.statuses).toEqual({ 200: WARM.sites * WARM.rounds })
    expect(startMs).toBeLessThan(alone.startMs * 2)
    expect(await croft.stop()).toMatchObject({ code: 0 })
  })
})

interface Memory {
  readonly serviceMib: number
  readonly allMib: number
}

/** What the processes that run site code have more. */
const warmMib = (before: Memory, after: Memory): number =>
  after.allMib - after.serviceMib - (before.allMib - before.serviceMib)

async function timed(work: () => Promise<unknown>): Promise<number> {
  const beganMs = performance.now()
  await work()
  return performance.now() - beganMs
}
