import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { HeaderRules, parseHeaderRules } from './headers-file.ts'

function applied(text: string, path: string, before: Record<string, string> = {}) {
  const headers = new Map(Object.entries(before))
  new HeaderRules(parseHeaderRules(text)).apply(path, headers)
  return Object.fromEntries(headers)
}

/** Whether everything that is read can be sent, or why it is refused. */
function outcomeOf(text: string): string {
  try {
    for (const { headers } of parseHeaderRules(text)) {
      for (const [name, value] of headers) new Headers().set(name, value ?? '')
    }
    return 'fine'
  } catch (error) {
    return String(error)
  }
}

describe('the rules of _headers', () => {
  test.each<[string, string, Record<string, string>]>([
    ['/*\n  X-A: 1', '/any/where', { 'x-a': '1' }],
    ['/*\n  X-A: 1', '/', { 'x-a': '1' }],
    ['/a\n  X-A: 1', '/b', {}],
    ['/a/:b\n\tX-A: 1:2 ; 3 \n', '/a/c', { 'x-a': '1:2 ; 3' }],
    ['/a\n  Link: <a>\n  Link: <b>', '/a', { link: '<a>, <b>' }],
    ['/*\n  X-A: 1\n/a\n  X-A: 2', '/a', { 'x-a': '2' }],
    ['# all\n/*\n  # one\n  X-A: 1\n\n/b\n  X-B: 2', '/b', { 'x-a': '1', 'x-b': '2' }],
    ['/*\n  X-A:', '/a', { 'x-a': '' }],
  ])('%j for %s', (text, path, expected) => {
    expect(applied(text, path)).toEqual(expected)
  })

  test('replace what is sent otherwise, or take it away', () => {
    const text = '/*\n  X-Frame-Options: DENY\n  ! Referrer-Policy'
    const before = { 'x-frame-options': 'SAMEORIGIN', 'referrer-policy': 'no-referrer' }
    expect(applied(text, '/', before)).toEqual({ 'x-frame-options': 'DENY' })
  })

  test.each([
    ['  X-A: 1', 'a header needs a path above it'],
    ['/a', '"/a" has no headers below it'],
    ['/a\n  nonsense', '"nonsense" is no header'],
    ['/a\n  : x', 'is no header'],
    ['/a\n  X A: 1', '"X A" is no name of a header'],
    ['/a\n  X-A: ü', 'must be ASCII'],
    ['a\n  X-A: 1', '"a" must begin with "/"'],
    ['https://b.test/a\n  X-A: 1', 'names a host'],
    ['/data/*\n  X-A: 1', 'is a path of the service itself'],
    ['/a\n  X-A: 1\rX-B: 2', 'has a control character'],
    ['/a\n  Set-Cookie: a=b', '"Set-Cookie" is set by the service'],
    ['/a\n  content-length: 3', '"content-length" is set by the service'],
    ['/a\n  Transfer-Encoding: chunked', '"Transfer-Encoding" is set by the service'],
    ['/a\n  Location: /b', '"Location" is set by the service'],
    ['/a\n  ! ETag', '"ETag" is set by the service'],
    [`/a\n${Array.from({ length: 51 }, (_, at) => `  X-${at}: 1`).join('\n')}`, 'more than 50'],
    [
      `/a\n${Array.from({ length: 3 }, (_, at) => `  X-${at}: ${'a'.repeat(4000)}`).join('\n')}`,
      '8192',
    ],
    [Array.from({ length: 201 }, (_, at) => `/${at}\n  X-A: 1`).join('\n'), 'more than 200 paths'],
  ])('are refused with the line: %j', (text, message) => {
    const wrong = () => parseHeaderRules(text)
    expect(wrong).toThrow(message)
    expect(wrong).toThrow(/^_headers, line \d+: /)
  })

  test('make headers that can be sent, or are refused with their line, whatever the text', () => {
    const piece = fc.constantFrom('/a', '\n  ', 'X-A', ': ', '\r', '\n', '!', '#', 'ü', '*', ',')
    fc.assert(
      fc.property(
        fc.array(fc.oneof(piece, fc.string({ maxLength: 4 })), { maxLength: 30 }),
        (pieces) => {
          expect(outcomeOf(pieces.join(''))).toMatch(/^(?:fine$|.*_headers, line \d+: )/)
        },
      ),
    )
  })
})
