import { describe, expect, test } from 'vitest'

import type { Item } from './attribute-value.ts'
import { checkItemKeys, checkItemKey, type TableSchema } from './key-schema.ts'

const SCHEMA: TableSchema = {
  partitionKey: { name: 'pk', type: 'S' },
  sortKey: { name: 'sk', type: 'B' },
  globalSecondaryIndexes: [{ name: 'by-g', partitionKey: { name: 'g', type: 'S' } }],
}
const SK = { B: 'AA==' }
const MISMATCH = 'The provided key element does not match the schema'
const INVALID = 'One or more parameter values were invalid: '
const NOT_VALID = 'One or more parameter values are not valid. '
const EMPTY = 'The AttributeValue for a key attribute cannot contain an empty'

describe('a key', () => {
  test('has its attributes within their sizes', () => {
    expect(() => checkItemKey({ pk: { S: 'x'.repeat(2048) }, sk: SK }, SCHEMA)).not.toThrow()
  })

  test.each<[string, Item, string]>([
    ['one attribute', { pk: { S: 'a' } }, MISMATCH],
    ['one too many', { pk: { S: 'a' }, sk: SK, x: { S: 'a' } }, MISMATCH],
    ['another attribute', { pk: { S: 'a' }, x: SK }, MISMATCH],
    ['another type', { pk: { N: '1' }, sk: SK }, MISMATCH],
    ['an empty string', { pk: { S: '' }, sk: SK }, `${NOT_VALID}${EMPTY} string value. Key: pk`],
    [
      'an empty binary',
      { pk: { S: 'a' }, sk: { B: '' } },
      `${NOT_VALID}${EMPTY} binary value. Key: sk`,
    ],
    [
      'a long partition key',
      { pk: { S: 'é'.repeat(1025) }, sk: SK },
      'Size of hashkey has exceeded the maximum size limit of2048 bytes',
    ],
    [
      'a long sort key',
      { pk: { S: 'a' }, sk: { B: 'AAAA'.repeat(342) } },
      'Aggregated size of all range keys has exceeded the size limit of 1024 bytes',
    ],
  ])('is refused with %s', (_what, key, message) => {
    expect(() => checkItemKey(key, SCHEMA)).toThrow(message)
  })

  test.each<[string, Item, string]>([
    ['no sort key', { pk: { S: 'a' } }, `${INVALID}Missing the key sk in the item`],
    [
      'another type',
      { pk: { N: '1' }, sk: SK },
      `${INVALID}Type mismatch for key pk expected: S actual: N`,
    ],
    ['an empty key', { pk: { S: '' }, sk: SK }, `${NOT_VALID}${EMPTY} string value. Key: pk`],
    [
      'another type for an index',
      { pk: { S: 'a' }, sk: SK, g: { N: '1' } },
      `${INVALID}Type mismatch for Index Key g Expected: S Actual: N IndexName: by-g`,
    ],
    [
      'an empty index key',
      { pk: { S: 'a' }, sk: SK, g: { S: '' } },
      'IndexName: by-g, IndexKey: g',
    ],
  ])('of an item is refused with %s', (_what, item, message) => {
    expect(() => checkItemKeys(item, SCHEMA)).toThrow(message)
  })
})
