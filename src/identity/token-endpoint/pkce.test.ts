import { describe, expect, test } from 'vitest'

import { matchesChallenge, requireVerifierShape } from './pkce.ts'

/** RFC 7636 appendix B. */
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'

describe('a code verifier', () => {
  test('proves the challenge that was made of it', () => {
    expect(matchesChallenge(VERIFIER, CHALLENGE)).toBe(true)
  })

  test.each([undefined, CHALLENGE, `${VERIFIER}a`, VERIFIER.toLowerCase(), ''])(
    'proves nothing when it is %j',
    (verifier) => {
      expect(matchesChallenge(verifier, CHALLENGE)).toBe(false)
    },
  )

  test.each(['x'.repeat(42), 'x'.repeat(129), `${'x'.repeat(43)}!`, `${'x'.repeat(43)}\n`])(
    'has the shape of RFC 7636, unlike %j',
    (verifier) => {
      expect(() => requireVerifierShape(verifier)).toThrow('invalid_request')
    },
  )

  test('may have all the letters that it can, or be left out', () => {
    expect(() => requireVerifierShape('AZaz09-._~'.repeat(12))).not.toThrow()
    expect(() => requireVerifierShape(undefined)).not.toThrow()
  })
})
