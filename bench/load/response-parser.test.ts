import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { MalformedResponse, type ParsedResponse, ResponseParser } from './response-parser.ts'

function parse(pieces: readonly (Buffer | string)[], keepBody = true): ParsedResponse[] {
  const found: ParsedResponse[] = []
  const parser = new ResponseParser((response) => found.push(response))
  parser.keepBody = keepBody
  for (const piece of pieces) parser.push(Buffer.from(piece))
  return found
}

const chunked = (pieces: readonly string[]) =>
  [...pieces, '']
    .map((piece) => `${Buffer.byteLength(piece).toString(16)}\r\n${piece}\r\n`)
    .join('')

const response = fc
  .record({
    status: fc.constantFrom(200, 201, 204, 304, 404, 429, 500, 503),
    pieces: fc.array(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }), {
      maxLength: 4,
    }),
    framing: fc.constantFrom('length', 'chunked'),
    closes: fc.boolean(),
    name: fc.constantFrom('Content-Length', 'content-length', 'CONTENT-LENGTH'),
  })
  .map(({ status, pieces, framing, closes, name }) => {
    const empty = status === 204 || status === 304
    const body = empty ? '' : pieces.join('')
    const heading = `HTTP/1.1 ${status} Some Reason\r\nX-Request-Id: 5\r\n${closes ? 'Connection: close\r\n' : ''}`
    const rest =
      framing === 'chunked' && !empty
        ? `Transfer-Encoding: chunked\r\n\r\n${chunked(pieces)}`
        : `${name}: ${Buffer.byteLength(body)}\r\n\r\n${body}`
    return {
      text: heading + rest,
      expected: { status, body, bodyBytes: Buffer.byteLength(body), closes },
    }
  })

describe('the response parser', () => {
  test('reads the same responses wherever the bytes are cut', () => {
    const cuts = fc.array(fc.nat(5000), { maxLength: 12 })
    fc.assert(
      fc.property(fc.array(response, { minLength: 1, maxLength: 4 }), cuts, (responses, at) => {
        const bytes = Buffer.from(responses.map(({ text }) => text).join(''))
        const edges = [0, ...at.map((cut) => cut % bytes.length).toSorted((a, b) => a - b)]
        const pieces = edges.map((edge, index) => bytes.subarray(edge, edges[index + 1]))
        expect(parse(pieces)).toEqual(responses.map(({ expected }) => expected))
      }),
    )
  })

  test('reads them byte by byte', () => {
    const text = `HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nTrailer: x\r\n\r\n`
    expect(parse(Buffer.from(text).toString('latin1').split(''))).toEqual([
      { status: 200, body: 'hello', bodyBytes: 5, closes: false },
    ])
  })

  test('skips interim responses, and counts a body that it does not keep', () => {
    const text = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'
    expect(parse([text], false)).toEqual([
      { status: 200, body: undefined, bodyBytes: 2, closes: false },
    ])
  })

  test.each([
    ['another protocol', 'SSH-2.0-OpenSSH\r\n\r\n'],
    ['a body that ends with the connection', 'HTTP/1.1 200 OK\r\nServer: x\r\n\r\n'],
    ['a length that is no number', 'HTTP/1.1 200 OK\r\nContent-Length: two\r\n\r\n'],
    [
      'a chunk size that is no number',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n',
    ],
    [
      'a chunk that is longer than it says',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabcd\r\n',
    ],
    ['a head without an end', 'x'.repeat(70_000)],
  ])('refuses %s', (_name, text) => {
    expect(() => parse([text])).toThrow(MalformedResponse)
  })

  test('fails in no other way, whatever comes', () => {
    const heads = fc.constantFrom('', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
    fc.assert(
      fc.property(heads, fc.array(fc.uint8Array({ maxLength: 64 })), (head, pieces) => {
        expect(['parsed', 'MalformedResponse']).toContain(outcome([head, ...pieces]))
      }),
    )
  })
})

function outcome(pieces: readonly (Uint8Array | string)[]): string {
  try {
    parse(
      pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : Buffer.from(piece))),
    )
    return 'parsed'
  } catch (error) {
    return error instanceof Error ? error.name : 'something else'
  }
}
