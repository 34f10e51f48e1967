import { describe, expect, test } from 'vitest'

import { validationError } from '#runtime/tables/validation-error.ts'
import { readWireItem, readWireValue } from '#test/dynamodb-wire/wire-value.ts'

const INVALID = 'One or more parameter values were invalid: '

describe('a value on the wire', () => {
  test('is brought into canonical form', () => {
    expect(
      readWireItem({
        n: { N: '1.50' },
        s: { NS: ['1e1', '2.0'] },
        l: { L: [{ M: { x: { N: '-0' } } }] },
      }),
    ).toEqual({ n: { N: '1.5' }, s: { NS: ['10', '2'] }, l: { L: [{ M: { x: { N: '0' } } }] } })
  })

  test.each<[string, unknown, string]>([
    [
      'no type',
      {},
      'Supplied AttributeValue is empty, must contain exactly one of the supported datatypes',
    ],
    [
      'an unknown type',
      { X: 'a' },
      'Supplied AttributeValue is empty, must contain exactly one of the supported datatypes',
    ],
    [
      'two types',
      { S: 'a', N: '1' },
      'Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes',
    ],
    [
      'two types, and no number among them',
      { S: 'a', N: 'dog' },
      'The parameter cannot be converted to a numeric value: dog',
    ],
    [
      'two types, each with a fault of its own',
      { SS: [], BS: [] },
      `${INVALID}Binary sets should not be empty`,
    ],
    [
      'NULL false',
      { NULL: false },
      `${INVALID}Null attribute value types must have the value of true`,
    ],
    ['no strings', { SS: [] }, `${INVALID}An string set  may not be empty`],
    ['no numbers', { NS: [] }, `${INVALID}An number set  may not be empty`],
    ['no binaries', { BS: [] }, `${INVALID}Binary sets should not be empty`],
    [
      'a string twice',
      { SS: ['a', 'a'] },
      `${INVALID}Input collection [a, a] contains duplicates.`,
    ],
    ['a number twice', { NS: ['1', '1.0'] }, 'Input collection contains duplicates'],
    [
      'a binary twice',
      { BS: ['Yg==', 'Yg=='] },
      `${INVALID}Input collection [Yg==, Yg==]of type BS contains duplicates.`,
    ],
    [
      'a number that is none',
      { N: 'dog' },
      'The parameter cannot be converted to a numeric value: dog',
    ],
    [
      'a set with null in it',
      { SS: ['a', null] },
      `${INVALID}An string set may not have a null string as a member`,
    ],
    [
      'half a base64',
      { B: 'abc' },
      'Base64 encoded length is expected a multiple of 4 bytes but found: 3',
    ],
    ['stray bits', { B: 'AAF=' }, 'Invalid last non-pad Base64 character dectected'],
    ['a number for a string', { S: 1 }, 'Unexpected token received from parser'],
    ['no object', 'a', 'Unexpected value type in payload'],
    ['a list that is none', { L: {} }, 'Unexpected field type'],
  ])('is refused with %s', (_what, value, message) => {
    expect(() => readWireValue(value)).toThrow(validationError(message))
  })
  test('has no attribute without a name', () => {
    const refusal = validationError('Empty attribute name')
    expect(() => readWireItem({ b: { N: 'x' }, '': { S: '' } })).toThrow(refusal)
  })

  test('may have names of 65,535 bytes at any level', () => {
    const long = 'é'.repeat(32_767)
    expect(readWireItem({ [`${long}a`]: { S: '' } })).toHaveProperty(`${long}a`)
    const refusal = validationError(
      '1 validation error detected: Attribute name is too large, must be less than 65536 bytes',
    )
    expect(() => readWireItem({ [`${long}aa`]: { S: '' } })).toThrow(refusal)
    expect(() => readWireValue({ L: [{ M: { [`${long}é`]: { S: '' } } }] })).toThrow(refusal)
  })
})
