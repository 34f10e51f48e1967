import type { AttributeValue } from '#runtime/tables/items/attribute-value.ts'
import type { KeySchema, TableSchema } from '#runtime/tables/items/key-schema.ts'

import { keyBytes, keyNumber, keyText } from './value-arbitraries.ts'

/** Keys of each type, in tables and in indexes. */
export const ACTION_TABLES = {
  'hash-s': { partitionKey: { name: 'pk', type: 'S' } },
  'hash-n': { partitionKey: { name: 'pk', type: 'N' } },
  'hash-b': {
    partitionKey: { name: 'pk', type: 'B' },
    globalSecondaryIndexes: [{ name: 'by-s', partitionKey: { name: 's', type: 'S' } }],
  },
  'range-s': {
    partitionKey: { name: 'pk', type: 'S' },
    sortKey: { name: 'sk', type: 'S' },
    globalSecondaryIndexes: [
      { name: 'by-g', partitionKey: { name: 'g', type: 'S' } },
      {
        name: 'by-g-n',
        partitionKey: { name: 'g', type: 'S' },
        sortKey: { name: 'n', type: 'N' },
      },
    ],
  },
  'range-n': {
    partitionKey: { name: 'pk', type: 'S' },
    sortKey: { name: 'sk', type: 'N' },
    globalSecondaryIndexes: [
      {
        name: 'by-sk',
        partitionKey: { name: 'sk', type: 'N' },
        sortKey: { name: 'pk', type: 'S' },
      },
      { name: 'by-n', partitionKey: { name: 'n', type: 'N' } },
    ],
  },
  'range-b': {
    partitionKey: { name: 'pk', type: 'N' },
    sortKey: { name: 'sk', type: 'B' },
    globalSecondaryIndexes: [
      {
        name: 'by-g-sk',
        partitionKey: { name: 'g', type: 'S' },
        sortKey: { name: 'sk', type: 'B' },
      },
    ],
  },
} as const satisfies Readonly<Record<string, TableSchema>>
export type ActionTable = keyof typeof ACTION_TABLES

export const actionSchema = (table: ActionTable): TableSchema => ACTION_TABLES[table]

/** What an action reads: the table, or one of its indexes. */
export function queriedSchema(table: TableSchema, indexName: unknown): KeySchema {
  const index = table.globalSecondaryIndexes?.find((each) => each.name === indexName)
  return index ?? table
}

/** Few values, so that requests meet the same items. */
export const PARTITIONS = {
  S: [{ S: 'p' }, { S: 'é' }, { S: 'p2' }],
  N: [{ N: '7' }, { N: '-1.5' }, { N: '100' }],
  B: [{ B: 'AA==' }, { B: 'YWI=' }, { B: '/w==' }],
} as const satisfies Readonly<Record<'S' | 'N' | 'B', readonly AttributeValue[]>>

export const SORTS = {
  S: keyText.map((S): AttributeValue => ({ S })),
  N: keyNumber.map((N): AttributeValue => ({ N })),
  B: keyBytes.map((B): AttributeValue => ({ B })),
} as const
