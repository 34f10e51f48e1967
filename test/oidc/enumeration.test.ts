import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { PasswordHasher } from '#identity/passwords/hasher.ts'
import { connectPostgres } from '#platform/postgres/postgres.ts'
import { openCounters } from '#platform/redis/redis-counters.ts'
import { seen, statementsOf } from '#test/seen-statements.ts'
import { silentLog } from '#test/silent-log.ts'
import { type Stack, startStack } from '#test/stack.ts'

import { ASKED, type Asked } from './enumeration/asked.ts'
import { type Person, Strangers, WHO, type Who } from './enumeration/strangers.ts'

const hashed = vi.spyOn(PasswordHasher.prototype, 'hash')
const verified = vi.spyOn(PasswordHasher.prototype, 'verify')
const OTHERS = WHO.filter((who) => who !== 'nobody')

let first: Stack
let stack: Stack
let strangers: Strangers
beforeAll(async () => {
  const config = { trustedProxies: ['127.0.0.1'] }
  first = await startStack({ sites: ['one.test'], config })
  // Another replica, on whose database one can look.
  const log = silentLog
  const postgres = await connectPostgres({ url: first.database.url, log, poolSize: 4 })
  const now = new Date()
  // A client that has to wait waits for ever, and what is cached of the pools is never read again between two that are compared.
  const clock = { now: () => now }
  const counters = await openCounters(undefined, log, { clock })
  const platform = { postgres: { ...postgres, database: seen(postgres.database) }, counters, clock }
  stack = await startStack({ beside: first, config, platform })
  strangers = await Strangers.open(stack, 'one.test')
})
afterAll(async () => {
  await stack[Symbol.asyncDispose]()
  await first[Symbol.asyncDispose]()
})

const ALL: readonly (readonly [string, Who, Asked])[] = Object.entries(ASKED).flatMap(
  ([name, asked]) => OTHERS.map((who) => [name, who, asked] as const),
)

/** What a client from a new network sees of the answer. */
async function seenOf(asked: Asked, person: Person): Promise<unknown> {
  return strangers.seen(await asked.of(strangers, person), person)
}

async function workOf(asked: Asked, person: Person) {
  const request = await asked.of(strangers, person)
  hashed.mockClear()
  verified.mockClear()
  const { outcome, statements } = await statementsOf(() => strangers.sendInside(request))
  const hashes = hashed.mock.calls.length + verified.mock.calls.length
  return { status: outcome.status, statements, hashes }
}

describe('asked about', () => {
  test.each(ALL)(
    '%s, the answer is the same for %s as for an unknown address',
    async (_name, who, asked) => {
      const answer = await seenOf(asked, await strangers.person(who))
      expect(answer).toEqual(await seenOf(asked, await strangers.person('nobody')))
      expect(answer).toMatchObject({ status: asked.status })
    },
  )

  test.each(ALL)(
    '%s, the work is the same for %s as for an unknown address',
    async (_name, who, asked) => {
      const work = await workOf(asked, await strangers.person(who))
      expect(work).toEqual(await workOf(asked, await strangers.person('nobody')))
      expect(work).toMatchObject({ status: asked.status, hashes: asked.hashes })
      expect(work.statements.length).toBeGreaterThanOrEqual(asked.hashes)
    },
  )
})
