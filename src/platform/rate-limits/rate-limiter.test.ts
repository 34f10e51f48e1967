import { beforeEach, expect, test } from 'vitest'

import { MemoryCounters } from '#platform/redis/memory-counters.ts'

import { RateLimiter } from './rate-limiter.ts'
import { RATE_LIMITS } from './rate-limits.ts'

const NARROW = { counter: 'narrow', most: 2, windowMs: 60_000, refusal: 'Too much of one' }
const WIDE = { counter: 'wide', most: 3, windowMs: 3_600_000, refusal: 'Too much of all' }
const one = { limit: NARROW, siteId: 'site', of: 'one' }
const all = { limit: WIDE, siteId: 'site' }
let now = new Date(0)
let limiter: RateLimiter
beforeEach(() => {
  now = new Date(0)
  limiter = new RateLimiter({ counters: new MemoryCounters({ clock: { now: () => now } }) })
})

test('counts each of what it counts by itself, and sites apart', async () => {
  for (const use of [one, one, { ...one, of: 'two' }, { ...one, siteId: 'other' }])
    await limiter.admit(use)
  await expect(limiter.admit(one)).rejects.toMatchObject({
    code: 'TooManyRequests',
    message: 'Too much of one: try again in 60 seconds',
    retryAfterSeconds: 60,
  })
  await limiter.admit({ ...one, of: 'two' })
})

test('lets as many through in the next window', async () => {
  for (let at = 0; at < 2; at += 1) await limiter.admit(one)
  now = new Date(59_000)
  await expect(limiter.admit(one)).rejects.toMatchObject({ retryAfterSeconds: 1 })
  now = new Date(60_001)
  await limiter.admit(one)
})

test('counts all uses of one call or none', async () => {
  await limiter.admit(all)
  await limiter.admit(all)
  await limiter.admit(one, all)
  await expect(limiter.admit(one, all)).rejects.toThrow('Too much of all')
  // What was refused by the second limit left the first as it was.
  await limiter.admit(one)
  expect(await limiter.refusalOf(one)).toMatchObject({ retryAfterSeconds: 60 })
})

test('counts an amount as a whole', async () => {
  await limiter.admit({ ...all, amount: 2 })
  await expect(limiter.admit({ ...all, amount: 2 })).rejects.toThrow('Too much of all')
  await limiter.admit(all)
})

test('forgets what is given back, and counts what is only known afterwards', async () => {
  const admitted = await limiter.admit({ ...one, amount: 2 })
  expect(await limiter.refusalOf(one)).toBeDefined()
  await admitted.takeBack()
  await limiter.check(one)
  for (let at = 0; at < 2; at += 1) await limiter.add(one)
  await expect(limiter.check(one)).rejects.toThrow('Too much of one')
  expect(await limiter.decide(one)).toMatchObject({ refusal: { code: 'TooManyRequests' } })
})

test('names a limit of the site that was reached', async () => {
  const limit = RATE_LIMITS.functionMailPerHour
  await limiter.admit({ limit, siteId: 'site', amount: limit.most })
  await expect(limiter.admit({ limit, siteId: 'site' })).rejects.toMatchObject({
    fields: { retryable: true, limit: { name: 'mailRecipientsPerHour', value: 500 } },
  })
})

test('no two limits share their counts', () => {
  const names = Object.values(RATE_LIMITS).map(({ counter }) => counter)
  // Those of sending, and of mail of functions, count a site once as a whole and once by its parts.
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual(['sending', 'site-mail'])
})
