import { beforeEach, describe, expect, test } from 'vitest'

import { AppError } from '#base/app-error.ts'
import { RateLimiter } from '#platform/rate-limits/rate-limiter.ts'
import { MemoryCounters } from '#platform/redis/memory-counters.ts'

import { sendingUses } from './sending-limits.ts'

const MAILBOX = 120
const SITE = 600
let now = new Date(0)
let limiter: RateLimiter
beforeEach(() => {
  now = new Date(0)
  limiter = new RateLimiter({ counters: new MemoryCounters({ clock: { now: () => now } }) })
})

function isNotTooMany(error: unknown): false {
  if (error instanceof AppError && error.code === 'TooManyRequests') return false
  throw error
}

/** How many of so many messages are sent. */
async function sent(count: number, mailboxOf: (at: number) => string, siteId = 'one') {
  let taken = 0
  for (let at = 0; at < count; at += 1) {
    const uses = sendingUses(siteId, mailboxOf(at), 1)
    if (await limiter.admit(...uses).then(() => true, isNotTooMany)) taken += 1
  }
  return taken
}

describe('in a minute', () => {
  test('a mailbox sends 120 messages', async () => {
    expect(await sent(MAILBOX + 5, () => 'info')).toBe(MAILBOX)
    expect(await sent(1, () => 'other')).toBe(1)
  })

  test('all mailboxes of a site send 600', async () => {
    expect(await sent(SITE + 5, (at) => `box ${at % 10}`)).toBe(SITE)
    expect(await sent(1, () => 'new')).toBe(0)
    expect(await sent(1, () => 'new', 'two')).toBe(1)
  })

  test('more go in the next one', async () => {
    await sent(MAILBOX + 1, () => 'info')
    now = new Date(61_000)
    expect(await sent(1, () => 'info')).toBe(1)
  })
})
