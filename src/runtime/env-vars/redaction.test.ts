import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { Redaction } from './redaction.ts'
import { secretMatcher } from './secret-matcher.ts'

const VALUE = 'p@ss "word"\n+/ü&1'
const matcher = secretMatcher([{ name: 'KEY', value: VALUE }])
const redact = (text: string) => matcher?.redact(text)

describe('a secret', () => {
  test.each([
    ['as it is', VALUE],
    ['in JSON', JSON.stringify({ a: VALUE })],
    ['inside an object on the console', `{ a: '${VALUE.replace('\n', String.raw`\n`)}' }`],
    ['in base64', Buffer.from(VALUE).toString('base64')],
    ['in base64url', Buffer.from(VALUE).toString('base64url')],
    ['in a URL', `https://x/?a=${encodeURIComponent(VALUE)}&b=1`],
    ['in a form', new URLSearchParams({ a: VALUE }).toString()],
    ['twice', `${VALUE} and ${VALUE}`],
    ['cut off at the end', `long ${VALUE.slice(0, 9)}`],
    ['cut off with a word of it', `long ${VALUE.slice(0, 12)}… [line cut]`],
  ])('%s is taken out', (_what, text) => {
    const left = redact(`before ${text}`)
    expect(left).toMatch(/^before .*\[secret KEY\]/s)
    expect(left).not.toMatch(/p@ss|p%40ss|cEBzcyA/)
  })

  test('leaves what is around it', () => {
    expect(redact(`a ${VALUE} b`)).toBe('a [secret KEY] b')
    expect(redact('p@ss "wo rd"')).toBe('p@ss "wo rd"')
  })

  test('that holds another is taken out whole', () => {
    const both = secretMatcher([
      { name: 'SHORT', value: 'abcdefgh' },
      { name: 'LONG', value: 'abcdefghijkl' },
    ])
    expect(both?.redact('x abcdefghijkl y abcdefgh z')).toBe('x [secret LONG] y [secret SHORT] z')
  })

  test('of fewer than 8 characters is not looked for', () => {
    expect(secretMatcher([{ name: 'PIN', value: '1234567' }])).toBeUndefined()
  })

  test('may be any text in any text', () => {
    const unit = fc.constantFrom(...'ab1 "\'`\\\n\t%+/=&.*$^|()[]{}-?:#éü€😀'.split(/(?:)/u))
    const value = fc.string({ unit, minLength: 8, maxLength: 40 })
    const around = fc.string({ unit, maxLength: 20 })
    fc.assert(
      fc.property(value, around, around, (secret, before, after) => {
        const left = secretMatcher([{ name: 'K', value: secret }])?.redact(before + secret + after)
        expect(left?.includes(secret)).toBe(false)
      }),
    )
  })
})

const redactionAt = (now: () => number) => new Redaction({ now, forgotten() {} })

describe('the secrets of a site', () => {
  const secret = { name: 'KEY', value: 'first value' }
  const next = { name: 'KEY', value: 'second value' }

  test('are looked for at that site alone', () => {
    const redaction = redactionAt(() => 0)
    redaction.addSecrets('one', [secret])
    expect(redaction.redact('one', 'the first value')).toBe('the [secret KEY]')
    expect(redaction.redact('two', 'the first value')).toBe('the first value')
  })

  test('are still looked for while a run may hold them', () => {
    let now = 0
    const redaction = redactionAt(() => now)
    redaction.addSecrets('one', [secret])
    redaction.addSecrets('one', [next])
    expect(redaction.redact('one', 'first value, second value')).toBe('[secret KEY], [secret KEY]')
    now = 21 * 60 * 1000
    redaction.addSecrets('one', [next])
    expect(redaction.redact('one', 'first value, second value')).toBe('first value, [secret KEY]')
  })

  test('are not forgotten without a word', () => {
    const served = new Set<string>()
    const redaction = new Redaction({
      now: () => 0,
      forgotten: (siteId) => served.delete(siteId),
      maxSize: 2000,
    })
    for (const siteId of ['one', 'two', 'three', 'four', 'five']) {
      redaction.addSecrets(siteId, [secret])
      served.add(siteId)
      redaction.redact('one', 'the first one is in use')
    }
    expect([...served]).toEqual(['one', ...['two', 'three', 'four', 'five'].slice(5 - served.size)])
    expect(served.size).toBeLessThan(5)
    for (const siteId of served) {
      expect(redaction.redact(siteId, secret.value)).toBe('[secret KEY]')
    }
  })
})
