import { describe, expect, test } from 'vitest'

import { newTotpSecret, totpStep, totpUri } from './totp.ts'

/** RFC 6238 appendix B: the secret is the ASCII of "12345678901234567890". */
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
const at = (seconds: number, after = 0) => ({ now: new Date(seconds * 1000), after })

describe('a code', () => {
  // The last six digits of the eight that the RFC gives for SHA-1.
  test.each([
    [59, '287082', 1],
    [1_111_111_109, '081804', 37_037_036],
    [1_111_111_111, '050471', 37_037_037],
    [1_234_567_890, '005924', 41_152_263],
    [2_000_000_000, '279037', 66_666_666],
    [20_000_000_000, '353130', 666_666_666],
  ])('at %i seconds is %s, of step %i', (seconds, code, step) => {
    expect(totpStep(SECRET, code, at(seconds))).toBe(step)
  })

  test('is right a step earlier and later, and no further', () => {
    const steps = [-61, -30, 0, 30, 61].map((off) => totpStep(SECRET, '287082', at(59 + off)))
    expect(steps).toEqual([undefined, 1, 1, 1, undefined])
  })

  test('is not right twice', () => {
    expect(totpStep(SECRET, '287082', at(59, 1))).toBeUndefined()
    expect(totpStep(SECRET, '287082', at(59, 0))).toBe(1)
  })

  test.each(['', '28708', '2870820', 'abcdef', '287 082', '२८७०८२', '287082\n'])(
    'is not "%s"',
    (code) => {
      expect(totpStep(SECRET, code, at(59))).toBeUndefined()
    },
  )
})

describe('a secret', () => {
  test('has 160 bits, and is another one each time', () => {
    const secrets = [newTotpSecret(), newTotpSecret()]
    expect(secrets[0]).toMatch(/^[A-Z2-7]{32}$/)
    expect(new Set(secrets).size).toBe(2)
  })

  test('is described to apps with what they show', () => {
    const uri = new URL(totpUri(SECRET, { issuer: 'one.test', label: 'ann+x@one.test' }))
    expect(uri.href).toMatch(/^otpauth:\/\/totp\/one\.test:ann%2Bx%40one\.test\?/)
    expect(Object.fromEntries(uri.searchParams)).toEqual({
      issuer: 'one.test',
      secret: SECRET,
      algorithm: 'SHA1',
      digits: '6',
      period: '30',
    })
  })
})
