import { describe, expect, test } from 'vitest'

import { RevocationStates } from '#identity/revocation/revocation-states.ts'
import { visitorOf } from '#identity/visitor.ts'

import { VerifiedTokenCache, tokenDigest } from './verified-token-cache.ts'

const NOW = 1_800_000_000_000
const VISITOR = visitorOf({ sub: 'sub-1', username: 'ann', groups: ['editors'] })
const DIGEST = tokenDigest('aaa.bbb.ccc')

function remembered(expiresAtMs = NOW + 3_600_000) {
  const states = new RevocationStates()
  const tokens = new VerifiedTokenCache()
  tokens.set(
    DIGEST,
    {
      visitor: VISITOR,
      poolVersion: 'v1',
      expiresAtMs,
      siteState: states.ofSite('site_1'),
      userState: states.ofUser('site_1', 'sub-1'),
    },
    NOW,
  )
  return { tokens, states }
}

describe('a token seen before', () => {
  test('answers with the very visitor for up to a minute', () => {
    const { tokens } = remembered()
    expect(tokens.get(DIGEST, 'v1', NOW)?.visitor).toBe(VISITOR)
    expect(tokens.get(DIGEST, 'v1', NOW + 59_999)?.visitor).toBe(VISITOR)
    expect(tokens.get(DIGEST, 'v1', NOW + 60_000)).toBeUndefined()
  })

  test('ends at its expiry when that comes first', () => {
    const { tokens } = remembered(NOW + 5000)
    expect(tokens.get(DIGEST, 'v1', NOW + 4999)?.visitor).toBe(VISITOR)
    expect(tokens.get(DIGEST, 'v1', NOW + 5000)).toBeUndefined()
  })

  test('is not known to another pool or key set', () => {
    expect(remembered().tokens.get(DIGEST, 'v2', NOW)).toBeUndefined()
  })

  test('is verified again when its user changed, and only then', () => {
    const { tokens, states } = remembered()
    states.userChanged('site_1', 'sub-2')
    states.userChanged('site_2', 'sub-1')
    expect(tokens.get(DIGEST, 'v1', NOW)?.visitor).toBe(VISITOR)
    states.userChanged('site_1', 'sub-1')
    expect(tokens.get(DIGEST, 'v1', NOW)).toBeUndefined()
  })

  test('is verified again when its site changed', () => {
    const { tokens, states } = remembered()
    states.siteChanged('site_1')
    expect(tokens.get(DIGEST, 'v1', NOW)).toBeUndefined()
  })

  test('is verified again when notifications may have been lost', () => {
    const { tokens, states } = remembered()
    states.allChanged()
    expect(tokens.get(DIGEST, 'v1', NOW)).toBeUndefined()
  })
})

describe('a visitor', () => {
  test('carries the text that the sandbox is given', () => {
    expect(JSON.parse(VISITOR.authText)).toEqual({
      sub: 'sub-1',
      username: 'ann',
      groups: ['editors'],
    })
  })
})
