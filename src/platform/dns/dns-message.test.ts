import { decode, encode } from 'dns-packet'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { type DnsAlias, type DnsOutcome, outcomeOf } from './dns-client.ts'
import { type RecordType, decodeResponse, encodeQuery, matchOf } from './dns-message.ts'
import { canonicalName } from './dns-name.ts'

const QUESTION = { name: 'key._domainkey.a.test', type: 'TXT' as RecordType }
const query = encodeQuery(4711, QUESTION, { edns: true })
const response = Buffer.from(
  encode({
    type: 'response',
    id: 4711,
    questions: [{ name: QUESTION.name, type: 'TXT' }],
    answers: [
      { type: 'CNAME', name: QUESTION.name, ttl: 60, data: 'b.test' },
      { type: 'TXT', name: 'b.test', ttl: 30, data: ['v=DKIM1; ', 'p=abc'] },
      { type: 'MX', name: 'b.test', ttl: 30, data: { preference: 1, exchange: 'c.test' } },
    ],
    authorities: [
      {
        type: 'SOA',
        name: 'test',
        ttl: 60,
        data: { mname: 'a', rname: 'b', serial: 1, refresh: 1, retry: 1, expire: 1, minimum: 9 },
      },
    ],
  }),
)

/** Undefined for a message that is broken. */
function read(message: Buffer, type: RecordType = 'TXT'): DnsOutcome | DnsAlias | undefined {
  try {
    return outcomeOf(decodeResponse(message), { ...QUESTION, type })
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

describe('a query', () => {
  test('is one question with EDNS, as others read it', () => {
    expect(decode(query)).toMatchObject({
      id: 4711,
      flag_rd: true,
      questions: [{ name: QUESTION.name, type: 'TXT', class: 'IN' }],
      additionals: [{ type: 'OPT', udpPayloadSize: 1232 }],
    })
  })

  test('has the response with its id and its question', () => {
    expect(matchOf(query, response)).toBe('exact')
    const named = encodeQuery(4711, { ...QUESTION, name: 'KEY._domainkey.a.test' }, { edns: true })
    expect(matchOf(named, response)).toBe('case')
    for (const other of [
      encodeQuery(4712, QUESTION, { edns: true }),
      encodeQuery(4711, { ...QUESTION, type: 'A' }, { edns: true }),
      encodeQuery(4711, { ...QUESTION, name: 'kez._domainkey.a.test' }, { edns: true }),
    ]) {
      expect(matchOf(other, response)).toBeUndefined()
    }
    expect(matchOf(query, query)).toBeUndefined()
  })
})

describe('a response', () => {
  test('says what the alias has, as long as the shorter of them lives', () => {
    expect(read(response)).toEqual({ answer: [['v=DKIM1; ', 'p=abc']], ttlSeconds: 30 })
    expect(read(response, 'AAAA')).toEqual({ code: 'ENODATA', ttlSeconds: 9 })
  })

  test('is read to its end, or broken: never more, and never with another error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => {
        expect(read(Buffer.from(bytes))?.ttlSeconds ?? 0).toBeGreaterThanOrEqual(0)
        expect(['exact', undefined]).toContain(matchOf(query, Buffer.from(bytes)))
      }),
    )
    const change = fc.tuple(fc.nat(response.length - 1), fc.nat(255))
    fc.assert(
      fc.property(
        fc.array(change, { maxLength: 6 }),
        fc.nat(response.length),
        (changes, length) => {
          const message = Buffer.from(response)
          for (const [at, byte] of changes) message[at] = byte
          read(message)
          read(message.subarray(0, length), 'MX')
        },
      ),
      { numRuns: 2000 },
    )
  })

  test.each<[string, (message: Buffer) => void]>([
    ['a name that leads to itself', (message) => message.writeUInt16BE(0xc00c, 12)],
    ['a name that leads forward', (message) => message.writeUInt16BE(0xc0ff, 12)],
    ['a million records', (message) => message.writeUInt16BE(0xffff, 6)],
  ])('is broken with %s', (_what, spoil) => {
    const message = Buffer.from(response)
    spoil(message)
    expect(read(message)).toBeUndefined()
  })
})

test.each([
  ['Example.TEST.', 'example.test'],
  ['_dmarc.bücher.test', '_dmarc.xn--bcher-kva.test'],
  ['a..test', undefined],
  ['', undefined],
  ['.', undefined],
  ['a b.test', undefined],
  ['a\\.b.test', undefined],
  ['ü ü.test', undefined],
  [`${'x'.repeat(63)}.test`, `${'x'.repeat(63)}.test`],
  [`${'x'.repeat(64)}.test`, undefined],
  ['x.'.repeat(128), undefined],
  [`${'x.'.repeat(126)}x`, `${'x.'.repeat(126)}x`],
])('the name "%s" is "%s" in DNS', (text, name) => {
  expect(canonicalName(text)).toBe(name)
})
