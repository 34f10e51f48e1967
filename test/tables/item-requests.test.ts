import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { PostgresPlatform } from '#platform/postgres/postgres.ts'
import type { Table } from '#runtime/tables/table.ts'
import type { ItemAction } from '#test/dynamodb-wire/engine.ts'
import { type TestDatabase, openDatabase } from '#test/postgres.ts'

import { type EngineBench, insertSite, openEngine } from './table-engine.ts'

let postgres: PostgresPlatform & TestDatabase
let bench: EngineBench
let table: Table

const SELECTED = 'SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES'
const QUERY = {
  KeyConditionExpression: 'id = :i',
  ExpressionAttributeValues: { ':i': 'a' },
}

beforeAll(async () => {
  postgres = await openDatabase()
  bench = await openEngine(postgres)
  await insertSite(postgres, 'one')
  table = await bench.create('one', {
    partitionKey: { name: 'id', type: 'S' },
    sortKey: { name: 'rank', type: 'N' },
    globalSecondaryIndexes: [{ name: 'by-tag', partitionKey: { name: 'tag', type: 'S' } }],
  })
  await bench.act(table, 'PutItem', { Item: { id: 'kept', rank: 1 } })
})
afterAll(async () => {
  await bench.queue[Symbol.asyncDispose]()
  await postgres[Symbol.asyncDispose]()
})

describe('a request is refused in the words of DynamoDB', () => {
  test.each<[ItemAction, Record<string, unknown>, string]>([
    [
      'Query',
      { ...QUERY, Limit: 0 },
      "1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1",
    ],
    [
      'Query',
      { ...QUERY, Select: 'ALL', IndexName: 'x' },
      `2 validation errors detected: Value 'ALL' at 'select' failed to satisfy constraint: Member must satisfy enum value set: [${SELECTED}]; ` +
        "Value 'x' at 'indexName' failed to satisfy constraint: Member must have length greater than or equal to 3",
    ],
    [
      'GetItem',
      {},
      "1 validation error detected: Value null at 'key' failed to satisfy constraint: Member must not be null",
    ],
    ['GetItem', { Key: { id: 'a' } }, 'The provided key element does not match the schema'],
    ...(['SET tag = #rank, marks[1] = #rank', 'SET tag = #rank REMOVE marks[1]'] as const).map(
      (UpdateExpression): [ItemAction, Record<string, unknown>, string] => [
        'UpdateItem',
        {
          Key: { id: 'kept', rank: 1 },
          UpdateExpression,
          ExpressionAttributeNames: { '#rank': 'rank' },
        },
        'The update expression attempted to update the secondary index key to unsupported type',
      ],
    ),
    [
      'UpdateItem',
      {
        Key: { id: 'kept', rank: 1 },
        UpdateExpression: 'SET marks[1] = #rank, tag = #rank',
        ExpressionAttributeNames: { '#rank': 'rank' },
      },
      'The document path provided in the update expression is invalid for update',
    ],
    [
      'PutItem',
      { Item: { id: 'a', rank: 1 }, ReturnValues: 'ALL_NEW' },
      'ReturnValues can only be ALL_OLD or NONE',
    ],
    [
      'PutItem',
      { Item: { id: 'a', rank: 1 }, ConditionExpression: 5 },
      'NUMBER_VALUE cannot be converted to String',
    ],
    [
      'PutItem',
      { Item: { id: 'a', rank: 1, tag: 'x'.repeat(2049) } },
      'One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048 bytes',
    ],
    [
      'PutItem',
      { Item: { id: 'a', rank: 1 }, Expected: {} },
      'Legacy parameters are not supported, use expressions: Expected',
    ],
    [
      'Query',
      {},
      'Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.',
    ],
    [
      'Query',
      { ...QUERY, IndexName: 'by-nothing' },
      'The table does not have the specified index: by-nothing',
    ],
    [
      'Query',
      {
        IndexName: 'by-tag',
        ConsistentRead: true,
        KeyConditionExpression: 'tag = :i',
        ExpressionAttributeValues: { ':i': 'a' },
      },
      'Consistent reads are not supported on global secondary indexes',
    ],
    [
      'Query',
      { ...QUERY, ExclusiveStartKey: { id: 'b', rank: 1 } },
      'The provided starting key is outside query boundaries based on provided conditions',
    ],
    ['Query', { ...QUERY, ExclusiveStartKey: { id: 'a' } }, 'The provided starting key is invalid'],
    [
      'Query',
      {
        ...QUERY,
        KeyConditionExpression: '#r = :i',
        ExpressionAttributeNames: { '#r': 'rank' },
        ExclusiveStartKey: { id: 'a', rank: 'no number' },
      },
      'Query condition missed key schema element: id',
    ],
    [
      'Query',
      { ...QUERY, ExclusiveStartKey: { id: 'a', rank: 'no number' } },
      'The provided key element does not match the schema',
    ],
    [
      'Query',
      { ...QUERY, Select: 'SPECIFIC_ATTRIBUTES' },
      'One or more parameter values were invalid: Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES',
    ],
    [
      'Scan',
      { Segment: 2, TotalSegments: 2 },
      'The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: 2 is not less than TotalSegments: 2',
    ],
    [
      'Scan',
      { Segment: 0, TotalSegments: 1_000_001 },
      "1 validation error detected: Value '1000001' at 'totalSegments' failed to satisfy constraint: Member must have value less than or equal to 1000000",
    ],
    [
      'Scan',
      { TotalSegments: 2 },
      'The Segment parameter is required but was not present in the request when parameter TotalSegments is present',
    ],
    [
      'Scan',
      { ExclusiveStartKey: { id: 'a' } },
      'The provided starting key is invalid: The provided key element does not match the schema',
    ],
  ])('%s %j', async (action, body, message) => {
    await expect(bench.act(table, action, body)).rejects.toMatchObject({
      code: 'ValidationError',
      message,
    })
  })
})
