import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { isRevoked, issueSecond } from './model.ts'

const standing = (tokensValidAfter: Date) => ({ signedOut: false, tokensValidAfter })
const moment = fc.integer({ min: 0, max: 4_000_000_000_000 }).map((ms) => new Date(ms))

describe('revoking a user’s tokens', () => {
  test('ends every token made before it, and none made after it', () => {
    fc.assert(
      fc.property(moment, fc.nat(7_200_000), (revokedAt, laterMs) => {
        const never = new Date(-8_640_000_000_000_000)
        const before = issueSecond(new Date(revokedAt.getTime() - 1), never)
        const after = issueSecond(new Date(revokedAt.getTime() + laterMs), revokedAt)
        expect(isRevoked(standing(revokedAt), before)).toBe(true)
        expect(isRevoked(standing(revokedAt), after)).toBe(false)
      }),
    )
  })

  test('is the same as ending the sign-in that a token comes from', () => {
    const ended = { ...standing(new Date(0)), signedOut: true }
    expect(isRevoked(ended, 4_000_000_000)).toBe(true)
  })

  test('moves the next token at most one second ahead', () => {
    fc.assert(
      fc.property(moment, (now) => {
        expect(issueSecond(now, now) * 1000 - now.getTime()).toBeLessThan(1000)
      }),
    )
  })
})
