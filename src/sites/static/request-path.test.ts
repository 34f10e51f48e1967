import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { decodeRequestPath, encodeRequestPath } from './request-path.ts'

describe('the path of a request', () => {
  test.each<[string, string | undefined]>([
    ['/', '/'],
    ['/a/b.css', '/a/b.css'],
    ['/a/', '/a/'],
    ['/a%20b', '/a b'],
    ['/a%2520b', '/a%20b'],
    ['/e%CC%81', '/\u00e9'],
    ['/.well-known/x', '/.well-known/x'],
    ['/a+b', '/a+b'],
    ['/a..b', '/a..b'],
    ['', undefined],
    ['a', undefined],
    ['//a', undefined],
    ['/a//b', undefined],
    ['/.env', undefined],
    ['/a/.well-known/x', undefined],
    ['/..', undefined],
    ['/%2e%2e/a', undefined],
    ['/a/%2E/b', undefined],
    ['/a%2fb', undefined],
    ['/a%5cb', undefined],
    ['/a\\b', undefined],
    ['/a%00', undefined],
    ['/a%0d%0ab', undefined],
    ['/%ff', undefined],
    ['/%', undefined],
    ['/%C0%AE%C0%AE/a', undefined],
    [`/${'a'.repeat(2048)}`, undefined],
  ])('%j is %j', (path, expected) => {
    expect(decodeRequestPath(path)).toBe(expected)
  })

  test('never leads out of the folder, and comes back as it was from a URL', () => {
    const part = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 8 }),
      fc.constantFrom('..', '.', '%2e', '%252e', '\\', '\0'),
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
        for (const path of [`/${parts.join('/')}`, `/${parts.map(encodeURIComponent).join('/')}`]) {
          const decoded = decodeRequestPath(path)
          if (decoded === undefined) continue
          expect(decoded).toMatch(/^\//)
          expect(decoded.split('/').slice(1)).not.toContain('..')
          expect(decoded).not.toMatch(/[\\\0]|\/\//)
          const sent = new URL(encodeRequestPath(decoded), 'https://one.test').pathname
          expect(decodeRequestPath(sent)).toBe(decoded)
        }
      }),
    )
  })
})
