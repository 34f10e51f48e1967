import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { type TestRedis, redisMissing, startRedis } from '#test/redis.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

/** Differs per run and per replica, whose isolates share nothing. */
const RANDOM = 'export default () => crypto.randomUUID()'

describe.skipIf(redisMissing() !== undefined)('answers that replicas share', () => {
  let redis: TestRedis
  let stack: Stack
  let beside: Stack
  let here: RuntimeSite
  let there: RuntimeSite
  beforeAll(async () => {
    redis = await startRedis()
    stack = await startStack({ redisUrl: redis.url })
    beside = await startStack({ beside: stack, redisUrl: redis.url })
    here = await RuntimeSite.open(stack, 'one.test')
    there = await RuntimeSite.open(beside, 'one.test')
  })
  afterAll(async () => {
    await beside[Symbol.asyncDispose]()
    await stack[Symbol.asyncDispose]()
    await redis[Symbol.asyncDispose]()
  })

  const cached = (operation: string) =>
    here.publish(operation, RANDOM, { cache: { ttlSeconds: 60 } })

  test('are found by the other replica', async () => {
    await cached('shared')
    const first = await here.call('shared', 1)
    const other = await there.call('shared', 1)
    expect(other.headers['x-cache']).toBe('HIT')
    expect(other.text).toBe(first.text)
  })

  test('survive a change of something else, and a restart', async () => {
    await cached('lasting')
    const first = await here.call('lasting', 1)
    await cached('meanwhile')
    expect((await here.call('lasting', 1)).text).toBe(first.text)
    await using restarted = await startStack({ beside: stack, redisUrl: redis.url })
    const again = await (await RuntimeSite.open(restarted, 'one.test')).call('lasting', 1)
    expect(again).toMatchObject({ text: first.text, headers: { 'x-cache': 'HIT' } })
  })

  test('are dropped on both, each counted once', async () => {
    await cached('dropped')
    for (const payload of [1, 2, 3]) await here.call('dropped', payload)
    await there.call('dropped', 1)
    await there.call('dropped', 4)
    const { json } = await here.admin('POST', '/operations/dropped')
    expect(json.invalidatedCount).toBe(4)
    expect((await here.call('dropped', 1)).headers['x-cache']).toBe('MISS')
    await expect
      .poll(async () => (await there.call('dropped', 2)).headers['x-cache'], { interval: 5 })
      .toBe('MISS')
  })

  test('are not given to another site', async () => {
    await cached('alike')
    const two = await RuntimeSite.open(stack, 'two.test')
    await two.publish('alike', RANDOM, { cache: { ttlSeconds: 60 } })
    await here.call('alike')
    expect((await two.call('alike')).headers['x-cache']).toBe('MISS')
  })

  test('are done without when Redis hangs', async () => {
    await cached('alone')
    redis.freeze()
    try {
      expect((await here.call('alone')).status).toBe(200)
      const ready = await stack.call('any.host', 'GET', '/readyz')
      expect(ready).toMatchObject({ status: 200, json: { checks: { redis: 'does not answer' } } })
      expect((await here.call('alone')).headers['x-cache']).toBe('HIT')
      expect(await here.admin('POST', '/operations/alone')).toMatchObject({
        json: { ok: true, invalidatedCount: 1 },
      })
    } finally {
      redis.thaw()
    }
  })
})
