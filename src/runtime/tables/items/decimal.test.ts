import { Big } from 'big.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { validationError } from '#runtime/tables/validation-error.ts'

import { compareNumberTexts, decimalText, parseDecimal } from './decimal.ts'
import { addNumbers, canonicalNumber, subtractNumbers } from './number.ts'

const OVERFLOW =
  'Number overflow. Attempting to store a number with magnitude larger than supported range'
const UNDERFLOW =
  'Number underflow. Attempting to store a number with magnitude smaller than supported range'

describe('a number', () => {
  test.each([
    ['0', '0'],
    ['-0', '0'],
    ['0e125', '0'],
    ['-0.0e-130', '0'],
    ['1e000000000000000000000125', `1${'0'.repeat(125)}`],
    ['+3', '3'],
    ['0042.1200', '42.12'],
    ['.5', '0.5'],
    ['5.', '5'],
    ['-17.4E2', '-1740'],
    ['1E-3', '0.001'],
    ['1E125', `1${'0'.repeat(125)}`],
    ['1e-130', `0.${'0'.repeat(129)}1`],
    ['12345678901234567890123456789012345678', '12345678901234567890123456789012345678'],
  ])('%s is kept as %s', (text, canonical) => {
    expect(canonicalNumber(text)).toBe(canonical)
  })

  test.each([
    ['', 'The parameter cannot be converted to a numeric value'],
    ['dog', 'The parameter cannot be converted to a numeric value: dog'],
    ['NaN', 'The parameter cannot be converted to a numeric value: NaN'],
    ['Infinity', 'The parameter cannot be converted to a numeric value: Infinity'],
    [' 1', 'The parameter cannot be converted to a numeric value:  1'],
    ['.', 'The parameter cannot be converted to a numeric value: .'],
    ['1e', 'The parameter cannot be converted to a numeric value: 1e'],
    ['1e126', OVERFLOW],
    ['11e125', OVERFLOW],
    ['1.0e9223372036854775807', OVERFLOW],
    ['1e-9223372036854775808', UNDERFLOW],
    [
      '1e9223372036854775808',
      'The parameter cannot be converted to a numeric value: 1e9223372036854775808',
    ],
    ['0e126', OVERFLOW],
    ['0e-131', UNDERFLOW],
    ['1e-131', UNDERFLOW],
    ['0.9e-130', UNDERFLOW],
    [
      '123456789012345678901234567890123456789',
      'Attempting to store more than 38 significant digits in a Number',
    ],
  ])('"%s" is refused', (text, message) => {
    expect(() => canonicalNumber(text)).toThrow(validationError(message))
  })

  test('adds and subtracts without rounding', () => {
    expect(addNumbers('0.1', '0.2')).toBe('0.3')
    expect(addNumbers('10000000000000000000000', '1')).toBe('10000000000000000000001')
    expect(subtractNumbers('1', '1')).toBe('0')
    expect(subtractNumbers('-1.5', '0.25')).toBe('-1.75')
  })

  test.each([
    ['more than 38 digits', canonicalNumber('1e50'), '1'],
    ['too large', canonicalNumber('9e125'), canonicalNumber('9e125')],
  ])('refuses a sum that has %s', (_what, one, other) => {
    expect(() => addNumbers(one, other)).toThrow(OVERFLOW)
  })

  const integer = fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n })
  const parts = fc.tuple(integer, fc.integer({ min: -60, max: 60 }))
  const textOf = ([digits, exponent]: [bigint, number]) => `${digits}e${exponent}`

  test('has one canonical text, which reads back as itself', () => {
    fc.assert(
      fc.property(parts, (number) => {
        const canonical = canonicalNumber(textOf(number))
        expect(canonicalNumber(canonical)).toBe(canonical)
        expect(decimalText(new Big(canonical))).toBe(canonical)
        expect(canonical).not.toMatch(/e|^-?0\d|\.\d*0$|\.$/i)
      }),
    )
  })

  test('is ordered like the fraction that it is', () => {
    fc.assert(
      fc.property(parts, parts, (one, other) => {
        const exact = (number: [bigint, number]) => number[0] * 10n ** BigInt(number[1] + 60)
        const difference = exact(one) - exact(other)
        const expected = difference < 0n ? -1 : difference > 0n ? 1 : 0
        const order = compareNumberTexts(
          canonicalNumber(textOf(one)),
          canonicalNumber(textOf(other)),
        )
        expect(order).toBe(expected)
      }),
    )
  })

  test('is read in a time that grows with its text only', () => {
    expect(parseDecimal(`${'9'.repeat(400_000)}x`)).toBe('syntax')
    expect(parseDecimal('9'.repeat(400_000))).toBe('overflow')
    expect(parseDecimal(`0.${'0'.repeat(400_000)}1`)).toBe('underflow')
  })
})
