import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { type DynamoDbWire, startDynamoDbWire } from '#test/dynamodb-wire.ts'
import { openDatabase } from '#test/postgres.ts'

const running = new AsyncDisposableStack()
const faults: unknown[] = []
let wire: DynamoDbWire

beforeAll(async () => {
  const { database, ...rest } = await openDatabase()
  running.use(rest)
  wire = running.use(await startDynamoDbWire({ database, onFault: (fault) => faults.push(fault) }))
})

afterAll(async () => {
  await running.disposeAsync()
})

async function call(action: string, body: unknown): Promise<object> {
  const response = await fetch(wire.endpoint, {
    method: 'POST',
    headers: {
      authorization: 'AWS4-HMAC-SHA256 Credential=a/b/c/d/e, SignedHeaders=host, Signature=a',
      'x-amz-date': '20260101T000000Z',
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': `DynamoDB_20120810.${action}`,
    },
    body: JSON.stringify(body),
  })
  return Object(await response.json())
}

describe('what is wrong with a page', () => {
  const TableName = 'pages'
  const by = (...names: readonly string[]) =>
    names.map((AttributeName, at) => ({ AttributeName, KeyType: at === 0 ? 'HASH' : 'RANGE' }))
  const [yes, no] = [{ S: 'a' }, { N: '1' }]
  const equal = { ComparisonOperator: 'EQ', AttributeValueList: [yes] }
  const missing = { ComparisonOperator: 'NULL' }

  beforeAll(async () => {
    await call('CreateTable', {
      TableName,
      AttributeDefinitions: ['a', 'b', 'c'].map((AttributeName) => ({
        AttributeName,
        AttributeType: 'S',
      })),
      KeySchema: by('a', 'b'),
      GlobalSecondaryIndexes: [
        { IndexName: 'keys', KeySchema: by('c'), Projection: { ProjectionType: 'KEYS_ONLY' } },
      ],
      BillingMode: 'PAY_PER_REQUEST',
    })
    await vi.waitFor(async () => {
      if (!('Count' in (await call('Scan', { TableName })))) throw new Error('Not yet a table')
    }, 20_000)
  })

  const unindexable = 'Attempted conditional constraint is not an indexable operation'
  const mismatch = 'The provided key element does not match the schema'
  const notWhole =
    'One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global secondary index keys because its projection type is not ALL'
  const whole = { IndexName: 'keys', Select: 'ALL_ATTRIBUTES' }

  test.each<[string, object, string]>([
    ['Query', { KeyConditions: { a: missing } }, unindexable],
    ['Query', { KeyConditions: { a: equal, b: missing } }, unindexable],
    ['Query', { KeyConditions: { c: missing } }, 'Query condition missed key schema element: a'],
    ['Query', { KeyConditions: { a: missing }, ExclusiveStartKey: { a: no, b: yes } }, mismatch],
    ['Query', { KeyConditions: { a: missing }, ExclusiveStartKey: { a: yes, b: no } }, unindexable],
    [
      'Query',
      {
        ...whole,
        KeyConditionExpression: 'c = :c',
        FilterExpression: 'a.x = :c',
        ExpressionAttributeValues: { ':c': yes },
      },
      notWhole,
    ],
    ['Scan', { ...whole, FilterExpression: 'attribute_exists(a.x)' }, notWhole],
    ['Scan', { ...whole, ExclusiveStartKey: { a: no, b: yes, c: yes } }, notWhole],
    ['Scan', { ...whole, ExclusiveStartKey: { a: yes, b: yes, c: no } }, mismatch],
  ])('is found in the order of DynamoDB: %s %j', async (action, body, message) => {
    await expect(call(action, { TableName, ...body })).resolves.toMatchObject({ message })
  })
})

test('a time to live of no table is refused by its name', async () => {
  const body = { TableName: 'none', TimeToLiveSpecification: { AttributeName: 'a', Enabled: true } }
  await expect(call('UpdateTimeToLive', body)).resolves.toMatchObject({
    message: 'Requested resource not found: Table: none not found',
  })
})

test('a check without a condition is no action of a transaction', async () => {
  const ConditionCheck = { TableName: 'none', Key: { a: { S: 'a' } } }
  await expect(
    call('TransactWriteItems', { TransactItems: [{ ConditionCheck }] }),
  ).resolves.toMatchObject({
    message:
      "1 validation error detected: Value null at 'transactItems.1.member.conditionCheck.conditionExpression' failed to satisfy constraint: Member must not be null",
  })
})

describe('a transaction', () => {
  const TableName = 'keyed'
  const canceled = (...codes: readonly string[]) => ({
    message: `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes.join(', ')}]`,
    CancellationReasons: codes.map((Code) => ({ Code })),
  })

  beforeAll(async () => {
    await call('CreateTable', {
      TableName,
      AttributeDefinitions: ['a', 'x'].map((AttributeName) => ({
        AttributeName,
        AttributeType: 'S',
      })),
      KeySchema: [{ AttributeName: 'a', KeyType: 'HASH' }],
      GlobalSecondaryIndexes: [
        {
          IndexName: 'by-x',
          KeySchema: [{ AttributeName: 'x', KeyType: 'HASH' }],
          Projection: { ProjectionType: 'ALL' },
        },
      ],
      BillingMode: 'PAY_PER_REQUEST',
    })
    await vi.waitFor(async () => {
      if (!('Count' in (await call('Scan', { TableName })))) throw new Error('Not yet a table')
    }, 20_000)
  })

  const Key = { a: { S: '' } }
  const update = {
    UpdateExpression: 'SET b = :b',
    ExpressionAttributeValues: { ':b': { S: '' } },
  }
  const empty = 'The AttributeValue for a key attribute cannot contain an empty string value.'

  test.each<[string, object, string]>([
    ['put', { Put: { Item: Key } }, 'Key: a'],
    ['put of an index', { Put: { Item: { a: { S: 'a' }, x: { S: '' } } } }, 'IndexKey: x'],
    ['deletion', { Delete: { Key } }, 'Key: a'],
    ['update', { Update: { Key, ...update } }, 'Key: a'],
    ['check', { ConditionCheck: { Key, ConditionExpression: 'a = b' } }, 'Key: a'],
  ])('is not begun with an empty key: %s', async (_what, action, end) => {
    const TransactItems = [
      { Put: { TableName, Item: { a: { N: '1' } } } },
      Object.fromEntries(
        Object.entries(action).map(([kind, body]) => [kind, { TableName, ...body }]),
      ),
    ]
    const fault = await call('TransactWriteItems', { TransactItems })
    expect(fault).toMatchObject({ __type: expect.stringMatching(/ValidationException$/) })
    expect(JSON.stringify(fault)).toContain('are not valid. ')
    expect(JSON.stringify(fault)).toContain(empty)
    expect(JSON.stringify(fault)).toContain(end)
  })

  test('that reads is cancelled by a key that does not fit', async () => {
    const get = (a: object) => ({ Get: { TableName, Key: a } })
    for (const key of [{}, { a: { N: '1' } }, { a: { S: 'x'.repeat(2049) } }]) {
      const TransactItems = [get({ a: { S: 'a' } }), get(key)]
      await expect(call('TransactGetItems', { TransactItems })).resolves.toMatchObject(
        canceled('None', 'ValidationError'),
      )
    }
  })
})

test('no request made it fail', () => {
  expect(faults).toEqual([])
})
