import { randomBytes } from 'node:crypto'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { slowestMs } from '#test/call-log.ts'
import type { CroftProcess } from '#test/croft-process.ts'
import { type FaultJourney, workThrough } from '#test/fault-journey.ts'
import { type TestRedis, redisMissing, startRedis } from '#test/redis.ts'
import { startCroft } from '#test/started-croft.ts'
import { tellTallies } from '#test/tally.ts'

const OPERATOR_KEY = randomBytes(32).toString('base64url')

let cleanUp: AsyncDisposableStack
let redis: TestRedis
let croft: CroftProcess
beforeEach(async () => {
  cleanUp = new AsyncDisposableStack()
  redis = cleanUp.use(await startRedis())
  const env = { CROFT_OPERATOR_KEY: OPERATOR_KEY, REDIS_URL: redis.url }
  croft = await startCroft(cleanUp, env)
})
afterEach(() => cleanUp.disposeAsync())

function expectNothingFailed({ log, away }: FaultJourney, mostMs: number): void {
  tellTallies({
    slowestMs: slowestMs(log.during({ ...away, kind: 'recall' })),
    readyMs: slowestMs(log.during({ kind: 'readyz' })),
    faults: log.faults({}),
  })
  expect(log.faults({})).toEqual({})
  for (const kind of ['echo', 'recall', 'keep', 'putItem']) {
    const calls = log.during({ ...away, kind })
    expect(calls.length).toBeGreaterThan(100)
    expect(slowestMs(calls)).toBeLessThan(mostMs)
  }
  expect(slowestMs(log.during({ kind: 'readyz' }))).toBeLessThan(2000)
}

const said = (message: string): number => croft.log.filter(({ msg }) => msg === message).length

describe.skipIf(redisMissing() !== undefined)('a Redis that', () => {
  test('hangs fails nothing, and costs no call a second', async () => {
    const seen = await workThrough(croft, OPERATOR_KEY, {
      begin: () => redis.freeze(),
      end: () => redis.thaw(),
    })
    expect(seen.missing).toEqual([])
    expectNothingFailed(seen, 1000)
    expect(seen.readiness).toMatchObject({
      status: 'ready',
      checks: { redis: 'does not answer' },
    })
    expect(said('redis does not answer; each replica caches alone')).toBe(1)
    expect(said('redis answers again')).toBe(1)
    await croft.until('/readyz says that redis is back', async () => {
      return (await croft.call({ path: '/readyz' })).json.checks.redis === 'ok'
    })
  })

  test('is killed, and comes back with nothing in it, fails nothing', async () => {
    const seen = await workThrough(croft, OPERATOR_KEY, {
      begin: () => redis.restart(),
      end: () => redis.restart(),
    })
    expect(seen.missing).toEqual([])
    expectNothingFailed(seen, 1000)
  })
})
