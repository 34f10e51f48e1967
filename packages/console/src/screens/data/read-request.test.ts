import { describe, expect, test } from 'vitest'

import { type ReadState, ValueFault, readQuery, readRequest, readStateOf } from './read-request.ts'
import { columnNames, keyText, tableShape, valueType } from './table-shape.ts'

const SHAPE = tableShape({
  partitionKey: { name: 'buyer', type: 'S' },
  sortKey: { name: 'at', type: 'N' },
  globalSecondaryIndexes: [{ indexName: 'byTown', partitionKey: { name: 'town', type: 'S' } }],
})
const SCAN: ReadState = readStateOf(new URLSearchParams())

describe('a read of items', () => {
  test('is a scan without an expression at first', () => {
    expect(readRequest(SCAN, SHAPE)).toEqual({ action: 'scan', body: {} })
  })

  test('queries the key, with the sort key between two values and all their digits', () => {
    const state: ReadState = {
      ...SCAN,
      by: 'key',
      partition: 'vic',
      sortOperator: 'between',
      sort: '1',
      sortEnd: '9007199254740993',
      isDescending: true,
    }
    expect(readRequest(state, SHAPE)).toEqual({
      action: 'query',
      body: {
        keyConditionExpression: '#n0 = :v0 AND #n1 BETWEEN :v1 AND :v2',
        expressionAttributeNames: { '#n0': 'buyer', '#n1': 'at' },
        expressionAttributeValues: {
          ':v0': 'vic',
          ':v1': 1,
          ':v2': { $number: '9007199254740993' },
        },
        scanIndexForward: false,
      },
    })
  })

  test('queries an index and filters by any attribute', () => {
    const state: ReadState = {
      ...SCAN,
      by: 'index.byTown',
      partition: 'Ulm',
      filters: [
        { name: 'total', operator: '>', type: 'json', value: '5' },
        { name: 'note', operator: 'contains', type: 'text', value: '5' },
        { name: 'paid', operator: 'missing', type: 'text', value: '' },
      ],
    }
    expect(readRequest(state, SHAPE).body).toEqual({
      keyConditionExpression: '#n0 = :v0',
      indexName: 'byTown',
      filterExpression: '#n1 > :v1 AND contains(#n2, :v2) AND attribute_not_exists(#n3)',
      expressionAttributeNames: { '#n0': 'town', '#n1': 'total', '#n2': 'note', '#n3': 'paid' },
      expressionAttributeValues: { ':v0': 'Ulm', ':v1': 5, ':v2': '5' },
    })
  })

  test.each([
    [{ by: 'key', partition: '' }, 'partition'],
    [{ by: 'key', partition: 'a', sortOperator: '=', sort: 'x' }, 'sort'],
    [{ by: 'key', partition: 'a', sortOperator: 'between', sort: '1', sortEnd: '' }, 'end'],
    [{ filters: [{ name: 'a', operator: '=', type: 'json', value: '{' }] }, 'filter.0'],
    [{ filters: [{ name: '', operator: 'exists', type: 'text', value: '' }] }, 'filter.0'],
  ] as const)('refuses %j at the field', (change, field) => {
    expect(() => readRequest({ ...SCAN, ...change }, SHAPE)).toThrow(new ValueFault(field))
  })

  test('is in the address', () => {
    const state: ReadState = {
      by: 'key',
      partition: 'a & b',
      sortOperator: 'between',
      sort: '1',
      sortEnd: '2',
      isDescending: true,
      filters: [{ name: 'x', operator: '=', type: 'json', value: '"1"' }],
    }
    expect(readStateOf(readQuery(state))).toEqual(state)
    expect(readStateOf(new URLSearchParams('filter=[1&filter=["a"]&operator=or'))).toEqual(SCAN)
  })
})

describe('the shape of a table', () => {
  test('names keys first, then what most items have', () => {
    const items = [
      { buyer: 'a', at: 1, z: 1, b: 1 },
      { buyer: 'b', at: 2, z: 1 },
    ]
    expect(columnNames(SHAPE, items)).toEqual(['buyer', 'at', 'z', 'b'])
  })

  test('gives one text for one key', () => {
    expect(keyText(SHAPE, { at: 1, x: 2, buyer: 'a' })).toBe('{"at":1,"buyer":"a"}')
  })

  test.each([
    ['x', 'S'],
    [1, 'N'],
    [{ $number: '1e40' }, 'N'],
    [{ $binary: '' }, 'B'],
    [{ $set: [1] }, 'SET'],
    [{ $set: [1], a: 1 }, 'M'],
    [[], 'L'],
    [null, 'NULL'],
    [false, 'BOOL'],
  ] as const)('says that %j is of type %s', (value, type) => {
    expect(valueType(value)).toBe(type)
  })
})
