import { describe, expect, test } from 'vitest'

import type { KeySchema } from '#runtime/tables/items/key-schema.ts'
import { validationError } from '#runtime/tables/validation-error.ts'

import { Expressions } from './expressions.ts'
import { inSortRange, keyRangeOf, type KeyRange } from './key-condition.ts'

const SCHEMA: KeySchema = {
  partitionKey: { name: 'pk', type: 'S' },
  sortKey: { name: 'sk', type: 'N' },
}
const VALUES = { ':p': 'x', ':a': 1, ':b': 2, ':t': true }
const expressions = new Expressions()

function rangeOf(text: string, schema = SCHEMA): KeyRange {
  const used = Object.entries(VALUES).filter(([name]) => text.includes(name))
  const { keyCondition } = expressions.bind(
    { keyConditionExpression: text, expressionAttributeValues: Object.fromEntries(used) },
    ['keyConditionExpression'],
  )
  if (keyCondition === undefined) throw new Error('No key condition')
  return keyRangeOf(keyCondition, schema)
}

const partition = { S: 'x' }
const [one, two] = [{ N: '1' }, { N: '2' }]

describe('a key condition', () => {
  test.each<[string, KeyRange['sort']]>([
    ['pk = :p', undefined],
    [':p = pk', undefined],
    ['sk = :a AND pk = :p', { operator: '=', values: [one] }],
    ['pk = :p AND sk > :a', { operator: '>', values: [one] }],
    ['pk = :p AND :a > sk', { operator: '<', values: [one] }],
    ['((pk = :p) AND (:a <= sk))', { operator: '>=', values: [one] }],
    ['pk = :p AND sk BETWEEN :a AND :b', { operator: 'BETWEEN', values: [one, two] }],
  ])('"%s" names a range', (text, sort) => {
    expect(rangeOf(text)).toEqual({ partition, sort })
  })

  test('may ask for the beginning of a sort key', () => {
    const schema: KeySchema = {
      partitionKey: { name: 'sk', type: 'N' },
      sortKey: { name: 'pk', type: 'S' },
    }
    const { sort } = rangeOf('sk = :a AND begins_with(pk, :p)', schema)
    expect(sort).toEqual({ operator: 'begins_with', values: [partition] })
    expect(sort && inSortRange({ S: 'xyz' }, sort)).toBe(true)
    expect(sort && inSortRange({ S: 'ax' }, sort)).toBe(false)
  })

  const wrong = 'Invalid condition in KeyConditionExpression: '
  const operator = 'Invalid operator used in KeyConditionExpression: '
  const unsupported = 'Query key condition not supported'
  test.each([
    ['pk = :p OR sk = :a', `${operator}OR`],
    ['NOT pk = :p', `${operator}NOT`],
    ['pk IN (:p)', `${operator}IN`],
    ['pk <> :p', `${operator}<>`],
    ['contains(pk, :p)', `${operator}contains`],
    ['attribute_exists(pk) AND sk = :a', `${operator}attribute_exists`],
    ['size(pk) = :a', 'KeyConditionExpressions cannot contain nested operations'],
    [
      'pk = :p AND sk.x = :a',
      'KeyConditionExpressions cannot have conditions on nested attributes',
    ],
    ['pk = :p AND sk = extra', `${wrong}Multiple attribute names used in one condition`],
    [':p = :a', `${wrong}No key attribute specified`],
    [
      ':a BETWEEN sk AND :b',
      `${wrong}BETWEEN operator must have the key attribute as its first operand`,
    ],
    [
      'begins_with(:p, pk)',
      `${wrong}begins_with operator must have the key attribute as its first operand`,
    ],
    [
      'sk > :a AND sk < :b',
      'Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key',
    ],
    [
      'pk = :t',
      'One or more parameter values were invalid: Condition parameter type does not match schema type',
    ],
    [
      'pk = :p AND sk = :a AND extra = :b',
      'The number of query conditions (3) exceeds the number of key attributes defined in the schema (2)',
    ],
    ['sk = :a', 'Query condition missed key schema element: pk'],
    ['pk = :p AND extra = :a', 'Query condition missed key schema element: sk'],
    ['pk > :p', unsupported],
    [
      'pk = :a',
      'One or more parameter values were invalid: Condition parameter type does not match schema type',
    ],
  ])('"%s" is refused', (text, message) => {
    expect(() => rangeOf(text)).toThrow(validationError(message))
  })

  test('on a second attribute is refused where there is no sort key', () => {
    const schema: KeySchema = { partitionKey: { name: 'pk', type: 'S' } }
    expect(() => rangeOf('pk = :p AND sk = :a', schema)).toThrow(unsupported)
  })
})
