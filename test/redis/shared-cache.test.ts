import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'

import { openSharedCache } from '#platform/redis/redis-shared-cache.ts'
import type { SharedCache } from '#platform/redis/shared-cache.ts'
import { PATIENT, type TestRedis, redisMissing, startRedis } from '#test/redis.ts'
import { silentLog } from '#test/silent-log.ts'

const missing = redisMissing()
/** A busy machine takes its time. */
const PATIENCE = 30_000
const key = (siteId: string, group = 'op:1', entry = '{}') => ({ siteId, group, entry })

describe.skipIf(missing)(`the shared cache${missing ? ` (${missing})` : ''}`, () => {
  let redis: TestRedis
  let one: SharedCache
  let two: SharedCache

  beforeAll(async () => {
    redis = await startRedis()
    one = await openSharedCache(redis.url, silentLog, PATIENT)
    two = await openSharedCache(redis.url, silentLog, PATIENT)
    await vi.waitUntil(async () => (await one.ping()) === 'ok' && (await two.ping()) === 'ok', {
      timeout: PATIENCE,
    })
  })
  afterEach(() => redis.thaw())
  afterAll(async () => {
    await one[Symbol.asyncDispose]()
    await two[Symbol.asyncDispose]()
    await redis[Symbol.asyncDispose]()
  })

  /** A set is never certain: the cache may still be doing without Redis, as another test left it. */
  const stored = (cache: SharedCache, where: ReturnType<typeof key>, body: string) =>
    vi.waitFor(async () => {
      cache.set(where, body, 60)
      expect((await cache.get(where))?.body).toBe(body)
    }, PATIENCE)

  test('gives one replica what another has stored, with its times', async () => {
    await stored(one, key('a'), '{"ok":true}\n"x"')
    const entry = await two.get(key('a'))
    expect(entry?.body).toBe('{"ok":true}\n"x"')
    expect((entry?.expiresAt.getTime() ?? 0) - (entry?.storedAt.getTime() ?? 0)).toBe(60_000)
  })

  test('never gives a site what another has stored', async () => {
    await stored(one, key('b'), 'of b')
    expect(await one.get(key('c'))).toBeUndefined()
    expect(await one.dropGroup('c', 'op:1')).toBe(0)
    expect((await one.get(key('b')))?.body).toBe('of b')
  })

  test('drops a group whole, counts what was alive, and leaves the others', async () => {
    for (let index = 0; index < 25; index += 1) await stored(one, key('d', 'g', `${index}`), 'x')
    await stored(one, key('d', 'other'), 'stays')
    expect(await two.dropGroup('d', 'g')).toBe(25)
    expect(await one.get(key('d', 'g', '3'))).toBeUndefined()
    expect(await two.dropGroup('d', 'g')).toBe(0)
    expect((await two.get(key('d', 'other')))?.body).toBe('stays')
  })

  test('keeps 64 MiB of one site, whatever strangers ask, and leaves the other sites theirs', async () => {
    const body = 'x'.repeat(1024 * 1024)
    const at = (index: number) => key('full', `group ${index % 3}`, `${index}`)
    const dropped = async () => {
      let count = 0
      for (const group of [0, 1, 2]) count += await two.dropGroup('full', `group ${group}`)
      return count
    }
    await stored(one, key('beside'), 'stays')
    for (let index = 0; index < 90; index += 1) await stored(one, at(index), body)
    expect((await two.get(key('beside')))?.body).toBe('stays')
    expect(await dropped()).toBe(63)
    // What was dropped gives its room back, and what is stored again takes none.
    for (let index = 0; index < 90; index += 1) await stored(one, at(index % 45), body)
    expect(await dropped()).toBe(45)
  })

  test('does not count what has expired', async () => {
    one.set(key('e', 'g', 'short'), 'x', 0.05)
    await stored(one, key('e', 'g', 'long'), 'x')
    await vi.waitFor(
      async () => expect(await one.get(key('e', 'g', 'short'))).toBeUndefined(),
      PATIENCE,
    )
    expect(await one.dropGroup('e', 'g')).toBe(1)
  })

  test('misses quickly while Redis is frozen, and works again afterwards', async () => {
    await stored(one, key('f'), 'x')
    redis.freeze()
    const startedAt = performance.now()
    const answers = await Promise.all(Array.from({ length: 50 }, () => one.get(key('f'))))
    for (let round = 0; round < 50; round += 1) answers.push(await one.get(key('f')))
    expect(answers.every((answer) => answer === undefined)).toBe(true)
    // One wait for all of them, not one each: of a hundred.
    expect(performance.now() - startedAt).toBeLessThan(10 * PATIENT.commandTimeoutMs)
    expect(await one.ping()).toBe('down')
    redis.thaw()
    await vi.waitFor(async () => expect((await one.get(key('f')))?.body).toBe('x'), PATIENCE)
  })

  test('drops late what was dropped while Redis was frozen', async () => {
    await stored(one, key('h', 'g'), 'stale')
    redis.freeze()
    expect(await one.get(key('h', 'g'))).toBeUndefined()
    expect(await one.dropGroup('h', 'g')).toBe(0)
    redis.thaw()
    await vi.waitFor(() => stored(one, key('h', 'other'), 'x'), PATIENCE)
    expect(await one.get(key('h', 'g'))).toBeUndefined()
    expect(await two.get(key('h', 'g'))).toBeUndefined()
  })

  test('survives a Redis that was killed and came back empty', async () => {
    await stored(one, key('g'), 'x')
    await redis.restart()
    await vi.waitFor(async () => expect(await one.ping()).toBe('ok'), PATIENCE)
    await vi.waitFor(async () => {
      expect(await one.get(key('g'))).toBeUndefined()
      await stored(one, key('g'), 'y')
    }, PATIENCE)
  })
})
