import { describe, expect, test } from 'vitest'

import { parseTableConfig, tableConfigJson } from './table-config-json.ts'

const S = (name: string) => ({ name, type: 'S' })
const table = (index: object) => ({
  partitionKey: S('id'),
  globalSecondaryIndexes: [{ partitionKey: S('kind'), ...index }],
})
const KEYS_ONLY = { projectionType: 'KEYS_ONLY' }
const INCLUDE = { projectionType: 'INCLUDE', nonKeyAttributes: ['a', 'b'] }

describe('an index of a table', () => {
  test.each([
    ['indexName', { indexName: 'byKind' }, {}],
    ['name', { name: 'byKind' }, {}],
    ['ALL', { indexName: 'byKind', projection: 'ALL' }, {}],
    ['ALL of DynamoDB', { indexName: 'byKind', projection: { ProjectionType: 'ALL' } }, {}],
    ['KEYS_ONLY', { indexName: 'byKind', projection: 'KEYS_ONLY' }, { projection: KEYS_ONLY }],
    ['a type', { indexName: 'byKind', projection: KEYS_ONLY }, { projection: KEYS_ONLY }],
    ['INCLUDE', { name: 'byKind', projection: INCLUDE }, { projection: INCLUDE }],
    [
      'INCLUDE of DynamoDB',
      {
        indexName: 'byKind',
        projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['a', 'b'] },
      },
      { projection: INCLUDE },
    ],
  ])('is read with %s, and always shown in one form', (_what, index, rest) => {
    const config = parseTableConfig(table(index))
    expect(config).toEqual(table({ name: 'byKind', ...rest }))
    const shown = tableConfigJson(config)
    expect(shown).toEqual(table({ indexName: 'byKind', ...rest }))
    expect(parseTableConfig(shown)).toEqual(config)
  })

  test.each([
    [{}, 'indexName'],
    [{ indexName: 'x' }, 'indexName'],
    [{ indexName: 'byKind', name: 'byKind' }, 'indexName'],
    [{ indexName: 'byKind', projection: 'INCLUDE' }, 'projection'],
    [{ indexName: 'byKind', projection: { projectionType: 'INCLUDE' } }, 'projection'],
    [{ indexName: 'byKind', projection: { ...INCLUDE, nonKeyAttributes: [] } }, 'projection'],
    [{ indexName: 'byKind', projection: { ...KEYS_ONLY, nonKeyAttributes: ['a'] } }, 'projection'],
    [{ indexName: 'byKind', projection: { projectionType: 'ALL', more: 1 } }, 'projection'],
    [
      {
        indexName: 'byKind',
        projection: {
          projectionType: 'INCLUDE',
          nonKeyAttributes: Array.from({ length: 21 }, (_, at) => `a${at}`),
        },
      },
      'projection',
    ],
    [{ indexName: 'byKind', projection: null }, 'projection'],
  ])('%j is refused', (index, field) => {
    expect(() => parseTableConfig(table(index))).toThrow(
      expect.objectContaining({
        code: 'ValidationError',
        details: expect.arrayContaining([
          expect.objectContaining({ field: `config.globalSecondaryIndexes[0].${field}` }),
        ]),
      }),
    )
  })
})
