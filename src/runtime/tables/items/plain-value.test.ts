import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import type { AttributeValue } from './attribute-value.ts'
import { areEqual } from './equality.ts'
import { canonicalNumber } from './number.ts'
import { plainItem, plainValue } from './plain-json.ts'
import { readPlainItem, readPlainValue } from './plain-value.ts'

describe('the plain JSON of an item', () => {
  test.each<[string, unknown, AttributeValue]>([
    ['a string', '5', { S: '5' }],
    ['a number', 5, { N: '5' }],
    ['a fraction', 0.1, { N: '0.1' }],
    ['null', null, { NULL: true }],
    ['a boolean', false, { BOOL: false }],
    ['a list', [1, 'a'], { L: [{ N: '1' }, { S: 'a' }] }],
    ['a map', { a: 1 }, { M: { a: { N: '1' } } }],
    ['digits', { $number: '9007199254740993' }, { N: '9007199254740993' }],
    ['bytes', { $binary: 'AAE=' }, { B: 'AAE=' }],
    ['strings', { $set: ['a', 'b'] }, { SS: ['a', 'b'] }],
    [
      'numbers',
      { $set: [1, { $number: '99999999999999999999' }] },
      { NS: ['1', '99999999999999999999'] },
    ],
    ['binaries', { $set: [{ $binary: 'AAE=' }] }, { BS: ['AAE='] }],
    ['a map that looks like a marker', { $map: { $set: 1 } }, { M: { $set: { N: '1' } } }],
    ['a marker among other keys', { $set: 1, a: 2 }, { M: { $set: { N: '1' }, a: { N: '2' } } }],
  ])('has %s', (_what, plain, value) => {
    expect(readPlainValue(plain)).toEqual(value)
    expect(plainValue(value)).toEqual(plain)
  })

  test.each<[string, unknown, string]>([
    ['a number that has lost digits', 2 ** 53, 'beyond 2^53'],
    ['no number', Number.NaN, 'NaN cannot be stored'],
    ['undefined', undefined, 'A value of type "undefined" cannot be stored'],
    ['mixed members', { $set: ['a', 1] }, 'strings only, numbers only, or binaries only'],
    ['no members', { $set: [] }, 'An string set  may not be empty'],
    ['a member twice', { $set: ['a', 'a'] }, 'Input collection [a, a] contains duplicates.'],
    ['a number twice', { $set: [1, { $number: '1.0' }] }, 'Input collection contains duplicates'],
    ['a set that is no list', { $set: 1 }, '"$set" must hold a list'],
    ['careless base64', { $binary: 'AAF=' }, 'padded base64'],
    ['digits that are no text', { $number: 1 }, '"$number" must hold a string'],
  ])('refuses %s', (_what, plain, message) => {
    expect(() => readPlainValue(plain)).toThrow(message)
  })

  test('goes 32 levels deep', () => {
    const nested = (levels: number): unknown => (levels === 0 ? 'leaf' : { n: nested(levels - 1) })
    expect(readPlainValue(nested(31))).toHaveProperty('M.n')
    expect(() => readPlainValue(nested(32))).toThrow(
      'Nesting Levels have exceeded supported limits',
    )
    expect(() => readPlainValue(JSON.parse('['.repeat(5000) + ']'.repeat(5000)))).toThrow('Nesting')
  })

  test('has names of 65,535 bytes at most', () => {
    const long = 'a'.repeat(65_535)
    expect(readPlainValue({ [long]: 1 })).toHaveProperty(`M.${long}`)
    expect(() => readPlainItem({ [`${long}a`]: 1 })).toThrow('Attribute name is too large')
    expect(() => readPlainValue([{ [`${long}a`]: 1 }])).toThrow('Attribute name is too large')
  })

  test('keeps attributes that have the names of what objects inherit', () => {
    const item = readPlainItem(JSON.parse('{"__proto__":1,"constructor":{"toString":2}}'))
    expect(Object.keys(item)).toEqual(['__proto__', 'constructor'])
    expect(JSON.stringify(plainItem(item))).toBe('{"__proto__":1,"constructor":{"toString":2}}')
  })

  const number = fc
    .tuple(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), fc.integer({ min: -20, max: 20 }))
    .map(([digits, exponent]) => ({ N: canonicalNumber(`${digits}e${exponent}`) }))
  const name = fc.oneof(fc.string(), fc.constantFrom('$set', '$number', '$binary', '$map'))
  const { value } = fc.letrec<{ value: AttributeValue }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', maxDepth: 4 },
      fc.string().map((S) => ({ S })),
      number,
      fc.boolean().map((BOOL) => ({ BOOL })),
      fc.constant({ NULL: true as const }),
      fc.uint8Array().map((bytes) => ({ B: Buffer.from(bytes).toString('base64') })),
      fc.uniqueArray(fc.string(), { minLength: 1 }).map((SS) => ({ SS })),
      fc
        .uniqueArray(number, { minLength: 1, selector: ({ N }) => N })
        .map((all) => ({ NS: all.map(({ N }) => N) })),
      fc.array(tie('value')).map((L) => ({ L })),
      fc.dictionary(name, tie('value'), { noNullPrototype: true }).map((M) => ({ M })),
    ),
  }))

  test('reads back as exactly the value it was written from', () => {
    fc.assert(
      fc.property(value, (original) => {
        const text = JSON.stringify(plainValue(original))
        expect(areEqual(readPlainValue(JSON.parse(text)), original), text).toBe(true)
      }),
    )
  })
})
