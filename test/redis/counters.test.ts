import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'

import { systemClock } from '#base/clock.ts'
import type { CounterRule, CounterStep, Counters } from '#platform/redis/counters.ts'
import { MemoryCounters } from '#platform/redis/memory-counters.ts'
import { openCounters } from '#platform/redis/redis-counters.ts'
import { openSharedCache } from '#platform/redis/redis-shared-cache.ts'
import type { SharedCache } from '#platform/redis/shared-cache.ts'
import { PATIENT, type TestRedis, redisMissing, startRedis } from '#test/redis.ts'
import { silentLog } from '#test/silent-log.ts'

const missing = redisMissing()
const PATIENCE = 30_000
const AN_HOUR = 3_600_000
/** Waits so long that no wait ends while a test runs. */
const RULE: CounterRule = {
  free: 3,
  firstWaitMs: 100_000,
  lastWaitMs: 800_000,
  forgetMs: AN_HOUR,
  forgetAfter: 'latest',
}
const key = (name: string, siteId = 'a') => ({ siteId, name })

describe.skipIf(missing)(`counters in Redis${missing ? ` (${missing})` : ''}`, () => {
  let redis: TestRedis
  let one: Counters
  let two: Counters
  let probe: SharedCache

  /** Both replicas really speak to Redis: what one counts, the other sees. */
  const connected = () =>
    vi.waitFor(async () => {
      expect(await probe.ping()).toBe('ok')
      const name = key(`probe ${Math.random()}`)
      await one.step(name, RULE, 'add')
      expect((await two.step(name, RULE, 'add')).count).toBe(2)
      expect((await one.step(name, RULE, 'look')).count).toBe(2)
    }, PATIENCE)

  beforeAll(async () => {
    redis = await startRedis()
    one = await openCounters(redis.url, silentLog, PATIENT)
    two = await openCounters(redis.url, silentLog, PATIENT)
    probe = await openSharedCache(redis.url, silentLog, PATIENT)
    await connected()
  })
  afterEach(async () => {
    redis.thaw()
    await connected()
  })
  afterAll(async () => {
    for (const each of [one, two, probe]) await each[Symbol.asyncDispose]()
    await redis[Symbol.asyncDispose]()
  })

  test('are those of memory, step by step', async () => {
    let run = 0
    const steps = fc.array(fc.constantFrom<CounterStep>('begin', 'add', 'undo', 'look'), {
      maxLength: 12,
    })
    const after = fc.constantFrom<CounterRule['forgetAfter']>('latest', 'first')
    const weight = fc.constantFrom(1, 2, 5)
    await fc.assert(
      fc.asyncProperty(steps, after, weight, async (taken, forgetAfter, by) => {
        const memory = new MemoryCounters({ clock: systemClock })
        const name = key(`run ${(run += 1)}`)
        const rule = { ...RULE, forgetAfter, weight: by }
        for (const step of taken) {
          const { waitMs, ...expected } = await memory.step(name, rule, step)
          const { waitMs: shared, ...actual } = await one.step(name, rule, step)
          expect(actual).toEqual(expected)
          expect(Math.abs(shared - waitMs)).toBeLessThan(PATIENCE)
        }
      }),
      {
        numRuns: 60,
        // What is given back is no try that was let through: who waited was refused before.
        examples: [[['begin', 'begin', 'begin', 'add', 'begin', 'undo', 'begin'], 'latest', 1]],
      },
    )
  })

  test('are one for all replicas, and apart for each site', async () => {
    for (const replica of [one, two, one]) {
      expect(await replica.step(key('shared'), RULE, 'begin')).toMatchObject({ admitted: true })
    }
    expect(await two.step(key('shared'), RULE, 'begin')).toMatchObject({
      admitted: false,
      firstRefusal: true,
    })
    expect(await one.step(key('shared'), RULE, 'begin')).toMatchObject({ firstRefusal: false })
    expect(await one.step(key('shared', 'b'), RULE, 'begin')).toMatchObject({ count: 1 })
    await one.clear(key('shared'))
    expect(await two.step(key('shared'), RULE, 'begin')).toMatchObject({ count: 1 })
  })

  test('admit no more of a thousand at once than one after another', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 1000 }, (_, index) =>
        (index % 2 === 0 ? one : two).step(key('burst'), RULE, 'begin'),
      ),
    )
    expect(outcomes.filter(({ admitted }) => admitted)).toHaveLength(3)
    expect(outcomes.filter(({ firstRefusal }) => firstRefusal)).toHaveLength(1)
  })

  test('are forgotten when their time is over', async () => {
    const rule: CounterRule = { ...RULE, forgetMs: 100 }
    for (let count = 0; count < 3; count += 1) await one.step(key('short'), rule, 'add')
    await expect
      .poll(() => two.step(key('short'), rule, 'look'), { timeout: PATIENCE })
      .toMatchObject({ count: 0, waitMs: 0 })
  })

  test('go on from where they were while Redis is frozen, and hand in what they counted', async () => {
    await one.step(key('frozen'), RULE, 'begin')
    await one.step(key('frozen'), RULE, 'begin')
    redis.freeze()
    expect(await one.step(key('frozen'), RULE, 'begin')).toMatchObject({ admitted: true, count: 3 })
    expect(await one.step(key('frozen'), RULE, 'begin')).toMatchObject({ admitted: false })
    redis.thaw()
    await connected()
    expect(await one.step(key('frozen'), RULE, 'begin')).toMatchObject({ admitted: false })
    const { count } = await two.step(key('frozen'), RULE, 'look')
    // The command that timed out may have been counted by Redis as well.
    expect([3, 4]).toContain(count)
  })

  test('stay cleared when they were cleared while Redis was frozen', async () => {
    for (let count = 0; count < 3; count += 1) await one.step(key('cleared'), RULE, 'begin')
    redis.freeze()
    await one.step(key('other'), RULE, 'look')
    await one.clear(key('cleared'))
    expect(await one.step(key('cleared'), RULE, 'look')).toMatchObject({ count: 0, waitMs: 0 })
    redis.thaw()
    await connected()
    expect(await one.step(key('cleared'), RULE, 'look')).toMatchObject({ count: 0, waitMs: 0 })
    expect(await two.step(key('cleared'), RULE, 'look')).toMatchObject({ count: 0, waitMs: 0 })
  })

  test('start again in a Redis that was killed and came back empty', async () => {
    await one.step(key('killed'), RULE, 'add')
    await redis.restart()
    await connected()
    expect((await two.step(key('killed'), RULE, 'add')).count).toBeLessThanOrEqual(2)
  })
})
