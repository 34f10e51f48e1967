import { Value } from '@sinclair/typebox/value'
import { describe, expect, test } from 'vitest'

import { EmailAddress, canonicalEmail } from './email.ts'

describe('an email address', () => {
  test.each([
    'ann@one.test',
    'a@b',
    'Ann.O’Hara+news@sub.one.test',
    "o'hara@one.test",
    'jürgen@münchen.test',
    `${'a'.repeat(248)}@b.cd`,
  ])('may be %j', (text) => {
    expect(Value.Check(EmailAddress, text)).toBe(true)
  })

  test.each([
    '',
    'ann',
    '@one.test',
    'ann@',
    'ann@one@test',
    ' ann@one.test',
    'ann @one.test',
    'ann@one.test\n',
    'ann@one.test\r\nBcc: eve@evil.test',
    'ann\0@one.test',
    'ann\u0085@one.test',
    'ann\u200b@one.test',
    'ann\u202e@one.test',
    'ann\ufeff@one.test',
    'ann\ud800@one.test',
    'ann,eve@one.test',
    'Ann <ann@one.test>',
    '"ann"@one.test',
    'ann@[127.0.0.1]',
    `${'a'.repeat(250)}@b.cd`,
  ])('is not %j', (text) => {
    expect(Value.Check(EmailAddress, text)).toBe(false)
  })

  test('has one spelling', () => {
    expect(canonicalEmail('ANN@One.Test')).toBe('ann@one.test')
  })
})
