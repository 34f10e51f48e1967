import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { addressIn, forwardedOf } from './forwarded.ts'

describe('a forwarded request', () => {
  test.each<[Record<string, string>, readonly string[], string | undefined]>([
    [{}, [], undefined],
    [{ 'x-forwarded-for': '1.1.1.1, 2.2.2.2' }, ['1.1.1.1', '2.2.2.2'], undefined],
    [{ 'x-forwarded-for': ' 1.1.1.1 ,, ' }, ['1.1.1.1'], undefined],
    // What a client wrote is on the left.
    [{ 'x-forwarded-host': 'evil.test, one.test' }, [], 'one.test'],
    [{ forwarded: 'for=192.0.2.43' }, ['192.0.2.43'], undefined],
    [
      { forwarded: 'For="[2001:db8:cafe::17]:4711";proto=https; Host="one.test:8080"' },
      ['[2001:db8:cafe::17]:4711'],
      'one.test:8080',
    ],
    [
      { forwarded: 'for=1.1.1.1;host=evil.test, for=2.2.2.2;by=10.0.0.1;host=one.test' },
      ['1.1.1.1', '2.2.2.2'],
      'one.test',
    ],
    [{ forwarded: 'for="a, b";host="a;b\\"c"' }, ['a, b'], 'a;b"c'],
    [{ forwarded: 'proto=https' }, [''], undefined],
    // A proxy that writes one of them passes the other on.
    [
      { 'x-forwarded-for': '1.1.1.1', forwarded: 'for=9.9.9.9;host=evil.test' },
      ['1.1.1.1'],
      undefined,
    ],
    [{ 'x-forwarded-host': 'one.test', forwarded: 'for=9.9.9.9;host=evil.test' }, [], 'one.test'],
  ])('%j', (headers, hops, host) => {
    expect(forwardedOf(new Headers(headers))).toEqual({ hops, host })
  })

  test('may say anything', () => {
    const piece = fc.constantFrom('for=', 'host=', '"', '\\', ',', ';', '=', ' ', '1.1.1.1', 'x')
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const { hops } = forwardedOf(new Headers({ forwarded: pieces.join('') }))
        expect(hops.every((hop) => typeof hop === 'string')).toBe(true)
      }),
    )
  })
})

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['192.0.2.1:1001', '192.0.2.1'],
  ['2001:db8::1', '2001:db8::1'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['[2001:db8::1]:443', '2001:db8::1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['unknown', undefined],
  ['_SEVKISEK', undefined],
  ['192.0.2.1:99999999', undefined],
  ['192.0.2', undefined],
  ['[192.0.2.1', undefined],
  ['', undefined],
])('the address in %j', (hop, address) => {
  expect(addressIn(hop)).toBe(address)
})
