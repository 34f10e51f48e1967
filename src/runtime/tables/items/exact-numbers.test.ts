import { Big } from 'big.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { withExactNumbers } from './exact-numbers.ts'
import { canonicalNumber } from './number.ts'
import { plainValue } from './plain-json.ts'
import { readPlainValue } from './plain-value.ts'

const read = (json: string) => readPlainValue(JSON.parse(withExactNumbers(json)))

describe('a JSON number', () => {
  test.each([
    ['5', '5'],
    ['-0', '0'],
    ['0.0', '0'],
    ['5.0', '5'],
    ['1e1', '10'],
    ['1E+2', '100'],
    ['0.1', '0.1'],
    ['0.30000000000000004', '0.30000000000000004'],
    ['1e20', '100000000000000000000'],
    ['9007199254740991', '9007199254740991'],
    ['9007199254740992', '9007199254740992'],
    ['9007199254740993', '9007199254740993'],
    ['-9007199254740993', '-9007199254740993'],
    ['0.12345678901234567890123456789012345678', '0.12345678901234567890123456789012345678'],
    ['12345678901234567890123456789012345678', '12345678901234567890123456789012345678'],
    ['1.00000000000000000000000000000000000000000', '1'],
    ['1e-130', `0.${'0'.repeat(129)}1`],
    ['9.99e125', `999${'0'.repeat(123)}`],
    ['0e125', '0'],
  ])('%s is read as %s', (text, canonical) => {
    expect(read(text)).toEqual({ N: canonical })
    expect(read(`{"a":[${text},"${text}"]}`)).toEqual({
      M: { a: { L: [{ N: canonical }, { S: text }] } },
    })
  })

  test.each([
    ['1e126', 'Number overflow'],
    ['1e400', 'Number overflow'],
    ['-1e99999', 'Number overflow'],
    ['0e126', 'Number overflow'],
    ['1e-131', 'Number underflow'],
    ['1e-400', 'Number underflow'],
    ['1.23456789012345678901234567890123456789', 'more than 38 significant digits'],
    ['123456789012345678901234567890123456789', 'more than 38 significant digits'],
  ])('%s is refused as DynamoDB does: %s', (text, message) => {
    expect(() => read(text)).toThrow(message)
  })

  test.each([
    '01e20',
    '1e20x',
    '1.e20',
    '.5e20',
    '1e',
    '--1e20',
    '+1e20',
    '{1e20:1}',
    '["a\\"1e20]',
  ])('%s stays no JSON', (text) => {
    expect(() => JSON.parse(withExactNumbers(text))).toThrow(SyntaxError)
  })

  test.each([
    '"1e20"',
    '{"1e20":"\\"1e20"}',
    '["\\\\",1,"1e20\\\\"]',
    '[1.5,-2e3,"uuid-1e5-9007199254740993"]',
  ])('in %s is left alone', (text) => {
    expect(withExactNumbers(text)).toBe(text)
  })

  test('keeps every digit, as big.js reads it, and comes back as it was', () => {
    const digits = fc.bigInt({ min: -(10n ** 38n) + 1n, max: 10n ** 38n - 1n })
    const text = fc.oneof(
      fc.tuple(digits, fc.integer({ min: -130, max: 87 })).map(([all, power]) => `${all}e${power}`),
      fc.tuple(digits, fc.integer({ min: 0, max: 38 })).map(([all, places]) => fixed(all, places)),
      fc
        .double({ noNaN: true, noDefaultInfinity: true, min: -1e100, max: 1e100 })
        .filter(kept)
        .map(String),
    )
    fc.assert(
      fc.property(text, (written) => {
        const value = read(written)
        expect(value).toEqual({ N: canonicalNumber(written) })
        expect('N' in value && new Big(value.N).cmp(written) === 0).toBe(true)
        expect(read(JSON.stringify(plainValue(value)))).toEqual(value)
      }),
    )
  })

  test('is a JSON number again wherever a double holds it', () => {
    for (const text of ['0.0000001', '1e-7', '1.5e-10', '9007199254740991', '1e15', '0.1']) {
      expect(plainValue(read(text)), text).toBe(Number(text))
    }
    expect(plainValue(read('1e20'))).toEqual({ $number: '100000000000000000000' })
  })

  test('never changes what other JSON means', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const exact: unknown = JSON.parse(withExactNumbers(text))
        expect(rounded(exact)).toEqual(rounded(JSON.parse(text)))
      }),
    )
  })
})

/** Numbers so small that their first digit is below the range are no matter here. */
const kept = (number: number): boolean => number === 0 || Math.abs(number) >= 1e-100

function fixed(digits: bigint, places: number): string {
  const sign = digits < 0n ? '-' : ''
  const text = String(digits < 0n ? -digits : digits).padStart(places + 1, '0')
  const whole = text.slice(0, text.length - places)
  return places === 0 ? sign + whole : `${sign}${whole}.${text.slice(-places)}`
}

function rounded(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rounded)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value)
  const [first] = fields
  if (fields.length === 1 && first?.[0] === '$number') return Number(first[1])
  return Object.fromEntries(fields.map(([name, each]) => [name, rounded(each)]))
}
