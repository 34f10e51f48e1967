import { describe, expect, test } from 'vitest'

import { readCode, readPassword, passwordPolicyText, readUsername } from './fields.ts'

const POLICY = {
  minimumLength: 8,
  requireUppercase: true,
  requireLowercase: true,
  requireNumbers: true,
  requireSymbols: true,
}
const NONE = {
  requireUppercase: false,
  requireLowercase: false,
  requireNumbers: false,
  requireSymbols: false,
}

describe('what a form sends', () => {
  test.each([
    [
      'an address with spaces around it',
      () => readUsername(new URLSearchParams({ username: ' a@b.test ' })),
      'a@b.test',
    ],
    [
      'a password with spaces, as it is',
      () => readPassword(new URLSearchParams({ password: ' p w ' })),
      ' p w ',
    ],
    [
      'a code copied with spaces',
      () => readCode(new URLSearchParams({ code: ' 123 456\n' })),
      '123456',
    ],
    ['a code with a hyphen', () => readCode(new URLSearchParams({ code: '123-456' })), '123456'],
  ])('is read: %s', (_what, read, value) => {
    expect(read()).toBe(value)
  })

  test.each([
    ['username', () => readUsername(new URLSearchParams({ username: '  ' }))],
    ['username', () => readUsername(new URLSearchParams({ username: 'x'.repeat(321) }))],
    ['password', () => readPassword(new URLSearchParams())],
    ['code', () => readCode(new URLSearchParams())],
  ])('is refused by field without a good %s', (field, read) => {
    expect(read).toThrow(
      expect.objectContaining({
        code: 'ValidationError',
        details: [expect.objectContaining({ field, message: expect.stringContaining('Enter') })],
      }),
    )
  })
})

describe('the password rules in words', () => {
  test.each([
    [
      POLICY,
      'At least 8 characters, with an uppercase letter, a lowercase letter, a digit and a symbol; or 20 of any kind.',
    ],
    [{ ...POLICY, ...NONE, minimumLength: 12 }, 'At least 12 characters.'],
    [
      { ...POLICY, ...NONE, requireNumbers: true },
      'At least 8 characters, with a digit; or 20 of any kind.',
    ],
  ])('%#', (policy, words) => {
    expect(passwordPolicyText(policy).in('en')).toBe(words)
  })
})
