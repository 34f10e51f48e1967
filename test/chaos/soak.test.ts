import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { CallLog, type LoggedCall, slowestMs } from '#test/call-log.ts'
import { Chance } from '#test/chance.ts'
import { ChaosSite } from '#test/chaos-site.ts'
import { openS3Store } from '#test/object-stores.ts'
import { cloneDatabase } from '#test/postgres.ts'
import { redisMissing, startRedis } from '#test/redis.ts'
import { tellTallies } from '#test/tally.ts'
import { TcpProxy } from '#test/tcp-proxy.ts'
import { openFolder } from '#test/temporary-folder.ts'

import { FAULTS, type Parts, type SoakFault } from './soak/faults.ts'
import { Load } from './soak/load.ts'
import { Replicas } from './soak/replicas.ts'

const setting = (name: string, unset: number): number => Number(process.env[name] ?? unset)
const SEED = setting('CROFT_SOAK_SEED', Math.floor(Math.random() * 2 ** 31))
const MINUTES = setting('CROFT_SOAK_MINUTES', 4)
const PER_SECOND = setting('CROFT_SOAK_PER_SECOND', 300)
const EVERY_MS = setting('CROFT_SOAK_FAULT_SECONDS', 20) * 1000

const LASTS_MS = 6000
/** So long after it is mended a call may still fail for it. */
const MENDED_WITHIN_MS = 10_000
const WARM_MS = 30_000
/** Until nothing of the load is on its way any more. */
const QUIET_MS = 10_000
const MEMORY_GROWTH = 1.2

interface Period {
  readonly fault: SoakFault
  readonly fromMs: number
  readonly toMs: number
}

const OPERATOR_KEY = randomBytes(32).toString('base64url')
const cleanUp = new AsyncDisposableStack()
const chance = new Chance(SEED)
let parts: Parts
beforeAll(async () => {
  const folder = await openFolder(cleanUp, 'croft-soak-')
  const database = cleanUp.use(await cloneDatabase())
  const proxy = cleanUp.use(await TcpProxy.start(database.url))
  const redis = cleanUp.use(await startRedis())
  const s3 = cleanUp.use(await openS3Store())
  const env = {
    ...s3.env,
    DATABASE_URL: proxy.url,
    REDIS_URL: redis.url,
    CROFT_OPERATOR_KEY: OPERATOR_KEY,
    CROFT_MASTER_KEY: randomBytes(32).toString('base64'),
    CROFT_BASE_URL: 'http://localhost:8080',
  }
  const replicas = cleanUp.use(await Replicas.start({ folder, env }))
  const [first] = replicas.running
  if (!first) throw new Error('No replica runs')
  const sites: ChaosSite[] = []
  for (const domain of ['one.test', 'two.test']) {
    sites.push(await ChaosSite.create(first, OPERATOR_KEY, domain))
  }
  parts = { replicas, sites, redis, s3, proxy, database: database.name, chance }
})
afterAll(() => cleanUp.disposeAsync())

/** Memory after that much load and a pause. */
async function settle(load: Load): Promise<number> {
  await load.run(AbortSignal.timeout(WARM_MS))
  await delay(QUIET_MS)
  return parts.replicas.memoryMib()
}

async function breakThings(over: AbortSignal): Promise<Period[]> {
  const periods: Period[] = []
  let left: SoakFault[] = []
  while (!over.aborted) {
    const fromMs = performance.now()
    // Each of them comes once before one comes again.
    if (left.length === 0) left = [...FAULTS]
    const [fault = chance.oneOf(FAULTS)] = left.splice(chance.below(left.length), 1)
    const breakage = fault.of(parts)
    await breakage.begin()
    await delay(LASTS_MS)
    await breakage.end?.()
    periods.push({ fault, fromMs, toMs: performance.now() })
    await delay(Math.max(0, fromMs + EVERY_MS - performance.now()))
  }
  return periods
}

const excuses = ({ fault, fromMs, toMs }: Period, call: LoggedCall): boolean =>
  fault.touches.includes(call.kind) &&
  fault.refusal.test(call.fault ?? '') &&
  call.beganMs + call.tookMs >= fromMs &&
  call.beganMs <= toMs + MENDED_WITHIN_MS

function figuresOf(log: CallLog, { fault, fromMs, toMs }: Period) {
  const calls = log.during({ fromMs, toMs })
  const faults: Record<string, number> = {}
  for (const call of calls) {
    if (call.fault !== undefined) faults[call.kind] = (faults[call.kind] ?? 0) + 1
  }
  return { fault: fault.name, calls: calls.length, faults, slowestMs: slowestMs(calls) }
}

describe.skipIf(redisMissing() !== undefined)('two replicas under load', () => {
  test('while parts of them and around them fail', async () => {
    const log = new CallLog()
    const load = new Load({ ...parts, log, perSecond: PER_SECOND })
    const beforeMib = await settle(load)
    const over = AbortSignal.timeout(MINUTES * 60_000)
    const [periods] = await Promise.all([breakThings(over), load.run(over)])
    const afterMib = await settle(load)
    const failed = log.calls.filter(({ fault }) => fault !== undefined)
    const unexcused = failed.filter((call) => !periods.some((period) => excuses(period, call)))
    const missing = (await Promise.all(parts.sites.map((site) => site.missing()))).flat()
    for (const period of periods) tellTallies(figuresOf(log, period))
    const ledger = parts.sites.reduce(
      (sum, { items, objects }) => sum + items.size + objects.size,
      0,
    )
    const counts = { calls: log.calls.length, left: load.left, failed: failed.length, ledger }
    tellTallies({ seed: SEED, ...counts, beforeMib, afterMib })

    expect(unexcused.slice(0, 20)).toEqual([])
    expect(missing).toEqual([])
    expect(load.left).toBe(0)
    expect(log.calls.length).toBeGreaterThan(MINUTES * 60 * PER_SECOND * 0.95)
    expect(afterMib).toBeLessThan(beforeMib * MEMORY_GROWTH)
  })
})
