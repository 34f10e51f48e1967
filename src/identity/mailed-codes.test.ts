import { describe, expect, test } from 'vitest'

import { type CodeScope, MailedCodes } from './mailed-codes.ts'

const codes = new MailedCodes({ sealer: { derive: (purpose) => Buffer.from(purpose.padEnd(32)) } })
const scope: CodeScope = { siteId: 's', userPoolId: 'p', purpose: 'reset', id: 'u' }

describe('a mailed code', () => {
  test('has six digits, the first of which may be a zero', () => {
    const made = Array.from({ length: 2000 }, () => codes.create())
    expect(made.every((code) => /^\d{6}$/.test(code))).toBe(true)
    expect(made.some((code) => code.startsWith('0'))).toBe(true)
    expect(new Set(made).size).toBeGreaterThan(1900)
  })

  test('is good for what it was made for', () => {
    const stored = codes.hash(scope, '012345')
    expect(codes.matches(stored, scope, '012345')).toBe(true)
    expect(codes.matches(stored, scope, ' 012 345\n')).toBe(true)
  })

  test.each<[string, Partial<CodeScope>]>([
    ['site', { siteId: 't' }],
    ['pool', { userPoolId: 'q' }],
    ['purpose', { purpose: 'sign-up' }],
    ['user', { id: 'v' }],
  ])('is wrong for another %s', (_what, other) => {
    const stored = codes.hash(scope, '012345')
    expect(codes.matches(stored, { ...scope, ...other }, '012345')).toBe(false)
  })

  test.each(['12345', '0123456', '01234５', '', 'abcdef', '-12345', '1e5000'])(
    'is not "%s", even if that were stored',
    (typed) => {
      expect(codes.matches(codes.hash(scope, typed), scope, typed)).toBe(false)
    },
  )

  test('that does not exist matches nothing', () => {
    for (const none of [null, undefined]) {
      expect(codes.matches(none, scope, '000000')).toBe(false)
    }
  })

  test('under another key is another', () => {
    const other = new MailedCodes({ sealer: { derive: () => Buffer.alloc(32, 7) } })
    expect(other.matches(codes.hash(scope, '012345'), scope, '012345')).toBe(false)
  })
})
