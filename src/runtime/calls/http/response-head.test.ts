import { describe, expect, test } from 'vitest'

import { parseResponseHead, UnsendableResponse } from './response-head.ts'

const head = (headers: readonly unknown[], rest: object = {}): string =>
  JSON.stringify({ status: 200, statusText: '', headers, body: 'none', ...rest })

describe('the head of a response out of an isolate', () => {
  test('is kept except for what belongs to the service', () => {
    const parsed = parseResponseHead(
      head([
        ['X-Own', 'caf\u00e9\t!'],
        ['set-cookie', 'a=1; Path=/; SameSite=Lax'],
        ['set-cookie', 'croftish=1'],
        ['Connection', 'close'],
        ['access-control-allow-origin', '*'],
        ['content-length', '12'],
      ]),
    )
    expect(parsed).toEqual({
      status: 200,
      statusText: '',
      headers: [
        ['x-own', 'caf\u00e9\t!'],
        ['set-cookie', 'a=1; Path=/; SameSite=Lax'],
        ['set-cookie', 'croftish=1'],
      ],
      contentLength: '12',
      body: 'none',
    })
  })

  test('has no reason phrase that is none', () => {
    expect(parseResponseHead(head([], { statusText: 'a\r\nb: c' })).statusText).toBe('')
  })

  test.each([
    ['no JSON', '{'],
    ['nothing', ''],
    ['null', 'null'],
    ['a status of 101', head([], { status: 101 })],
    ['a status of 600', head([], { status: 600 })],
    ['a status that is a text', head([], { status: '200' })],
    ['an unknown body', head([], { body: 'streamed' })],
    ['a pair of three', head([['a', 'b', 'c']])],
    ['a name with a line break', head([['a\n', 'b']])],
    ['an empty name', head([['', 'b']])],
    ['a value with a line break', head([['a', 'b\r\nc: d']])],
    ['a value with NUL', head([['a', '\0']])],
    ['a value that is no bytes', head([['a', '\u0100']])],
    ['201 headers', head(Array.from({ length: 201 }, () => ['a', 'b']))],
    ['64 KiB of headers', head([['a', 'b'.repeat(64 * 1024)]])],
    ['a session', head([['set-cookie', 'croft_session=x']])],
    ['a session in capitals', head([['Set-Cookie', ' CROFT_SESSION = x']])],
    ['a session of TLS', head([['set-cookie', '__Host-croft_session.p=x']])],
    ['a session of another prefix', head([['set-cookie', '__secure-croft_link']])],
    ['a cookie without a name', head([['set-cookie', '=croft_session=x']])],
    ['a cookie for a domain', head([['set-cookie', 'a=1;DOMAIN = .test']])],
  ])('is refused with %s', (_what, text) => {
    expect(() => parseResponseHead(text)).toThrow(UnsendableResponse)
  })
})
