import { describe, expect, test } from 'vitest'

import { parseProfileSettings } from './settings.ts'

const nested = (levels: number): Record<string, unknown> =>
  JSON.parse(`${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`)

describe('settings', () => {
  test.each([
    ['nothing', {}],
    ['16 KiB', { a: 'x'.repeat(16 * 1024 - '{"a":""}'.length) }],
    ['128 levels', nested(128)],
    ['any text that is text', { '😀': ['\\u0000', 'ünïcode', '\u0001'] }],
    ['a key that means something to JavaScript', JSON.parse('{"__proto__":{"a":1}}')],
  ])('may be %s', (_what, settings) => {
    expect(parseProfileSettings(settings)).toBe(settings)
  })

  test.each([
    ['one byte more than 16 KiB', { a: 'x'.repeat(16 * 1024 - '{"a":""}'.length + 1) }, /16384/],
    ['more bytes than letters', { a: 'ü'.repeat(9000) }, /16384 bytes as JSON, not 18008/],
    ['129 levels', nested(129), /128 levels/],
    ['far too many levels', nested(1_000_000), /128 levels/],
    ['NUL', { a: ['\0'] }, /NUL/],
    ['NUL in a key', { a: { '\0': 1 } }, /NUL/],
    ['half a surrogate pair', { a: '\ud83d' }, /surrogate/],
  ])('are refused with %s', (_what, settings, message) => {
    expect(() => parseProfileSettings(settings)).toThrow(message)
  })
})
