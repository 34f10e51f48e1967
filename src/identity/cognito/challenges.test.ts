import { randomBytes } from 'node:crypto'

import { describe, expect, test } from 'vitest'

import type { Pool } from '#identity/pools/model.ts'
import { Sealer } from '#platform/seal/sealer.ts'
import type { Site } from '#sites/site.ts'

import { type ChallengeClient, Challenges } from './challenges.ts'
import { N, numberOf } from './srp/group.ts'

const BY = {
  site: { siteId: 'site_one' } as Site,
  pool: { userPoolId: 'eu-central-1_AbCdEf123' } as Pool,
  clientId: 'client-one',
}
const EXCHANGE = {
  clientPublic: 5n,
  serverPublic: N - 1n,
  serverSecret: numberOf(randomBytes(32)),
}

const time = { at: new Date('2026-01-01T00:00:00Z').getTime() }
const clock = { now: () => new Date(time.at) }
const sealer = new Sealer(randomBytes(32))
const challenges = new Challenges({ sealer, clock })
const sealed = challenges.seal(BY, 'zoë@one.test', EXCHANGE)

describe('a challenge', () => {
  test('comes back as it was, on any replica', () => {
    const replica = new Challenges({ sealer, clock })
    expect(replica.open(BY, sealed)).toEqual({
      ...EXCHANGE,
      email: 'zoë@one.test',
      expiresAt: new Date(time.at + 180_000),
      challengeId: expect.any(Buffer),
    })
  })

  test('is never the same twice', () => {
    const again = challenges.seal(BY, 'zoë@one.test', EXCHANGE)
    expect(challenges.open(BY, again)?.challengeId).not.toEqual(
      challenges.open(BY, sealed)?.challengeId,
    )
  })

  test.each<[string, Partial<ChallengeClient>]>([
    ['another site', { site: { siteId: 'site_two' } as Site }],
    ['another pool', { pool: { userPoolId: 'eu-central-1_AbCdEf124' } as Pool }],
    ['another client', { clientId: 'client-two' }],
  ])('does not open for %s', (_what, other) => {
    expect(challenges.open({ ...BY, ...other }, sealed)).toBeUndefined()
  })

  test('does not open when a bit has changed, or a part is missing', () => {
    for (const at of [0, 5, 20, sealed.length - 1]) {
      const changed = Buffer.from(sealed)
      changed[at] = (changed[at] ?? 0) ^ 1
      expect(challenges.open(BY, changed)).toBeUndefined()
    }
    for (const length of [0, 1, 29, sealed.length - 1]) {
      expect(challenges.open(BY, sealed.subarray(0, length))).toBeUndefined()
    }
    expect(challenges.open(BY, Buffer.concat([sealed, randomBytes(4096)]))).toBeUndefined()
  })

  test('does not open on an installation with another key', () => {
    const stranger = new Challenges({ sealer: new Sealer(randomBytes(32)), clock })
    expect(stranger.open(BY, sealed)).toBeUndefined()
  })

  test('expires after three minutes', () => {
    const start = time.at
    time.at = start + 179_999
    expect(challenges.open(BY, sealed)).toBeDefined()
    time.at = start + 180_000
    expect(challenges.open(BY, sealed)).toBeUndefined()
    time.at = start
  })
})
