import { Buffer } from 'node:buffer'

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import type { AttributeValue } from '#runtime/tables/items/attribute-value.ts'
import { canonicalNumber } from '#runtime/tables/items/number.ts'
import { compareValues } from '#runtime/tables/items/order.ts'

import { keyBytes } from './key-bytes.ts'

const string = fc
  .oneof(
    fc.string({ unit: 'binary' }),
    // Units that are half a pair, beside the characters around them.
    fc
      .array(
        fc.constantFrom(
          0,
          0x61,
          0x7f,
          0x80,
          0x7ff,
          0x800,
          0xd7ff,
          0xd800,
          0xd801,
          0xdbff,
          0xdc00,
          0xdc01,
          0xdfff,
          0xe000,
          0xffff,
        ),
        { maxLength: 5 },
      )
      .map((units) => String.fromCharCode(...units)),
  )
  .map((S): AttributeValue => ({ S }))
const number = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(fc.bigInt({ min: 0n, max: 10n ** 38n - 1n }), fc.bigInt({ min: 0n, max: 200n })),
    fc.oneof(fc.integer({ min: -130, max: 88 }), fc.integer({ min: -2, max: 2 })),
  )
  .map(([sign, digits, exponent]): AttributeValue => ({
    N: canonicalNumber(`${sign}${digits}e${exponent}`),
  }))
const binary = fc
  .uint8Array({ maxLength: 6 })
  .map((bytes): AttributeValue => ({ B: Buffer.from(bytes).toString('base64') }))

const sign = (order: number | undefined) => Math.sign(order ?? Number.NaN)

describe('the bytes of a key', { timeout: 30_000 }, () => {
  test.each([
    ['strings', string],
    ['numbers', number],
    ['binaries', binary],
  ])('are ordered as %s are', (_name, arbitrary) => {
    fc.assert(
      fc.property(arbitrary, arbitrary, (one, other) => {
        const order = Buffer.compare(keyBytes(one), keyBytes(other))
        expect(sign(order)).toBe(sign(compareValues(one, other)))
      }),
      { numRuns: 3000 },
    )
  })

  test.each([
    ['-99999999999999999999999999999999999999e88', '-1e125'],
    ['-1e125', '-1e-130'],
    ['-1e-130', '0'],
    ['0', '1e-130'],
    ['1e-130', '9.9e-130'],
    ['1e125', '9.9999999999999999999999999999999999999e125'],
    ['-1.5', '-1'],
    ['1', '1.5'],
    ['9', '10'],
  ])('put %s before %s', (one, other) => {
    const [left, right] = [one, other].map((N) => keyBytes({ N: canonicalNumber(N) }))
    expect(Buffer.compare(left ?? Buffer.alloc(0), right ?? Buffer.alloc(0))).toBe(-1)
  })
})
