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

  const none = { TableName: 'none', Item: Key }
  const [token, enumerated] = ['x'.repeat(37), 'Member must satisfy enum value set']

  test.each<[string, object, string]>([
    ['syntax', { ConditionExpression: 'a = = b' }, 'Syntax error; token: "="'],
    [
      'a value without use',
      {
        ConditionExpression: 'attribute_exists(a)',
        ExpressionAttributeValues: { ':v': { S: '' } },
      },
      'unused in expressions: keys: {:v}',
    ],
    ['the name of an attribute', { Item: { '': { S: '' }, b: { L: [{}] } } }, 'Empty attribute'],
  ])('is refused for %s before a table is missed', async (_what, fields, message) => {
    const faulty = { Put: { TableName, Item: { a: { S: 'a' } }, ...fields } }
    for (const TransactItems of [
      [{ Put: none }, faulty],
      [faulty, { Put: none }],
    ]) {
      for (const ReturnConsumedCapacity of ['NONE', 'TOTAL']) {
        await expect(
          call('TransactWriteItems', { TransactItems, ReturnConsumedCapacity }),
        ).resolves.toMatchObject({
          __type: expect.stringMatching(/ValidationException$/),
          message: expect.stringContaining(message),
        })
      }
    }
  })

  test('may bring names and values that no expression uses, if it has none', async () => {
    const unused = {
      ExpressionAttributeNames: { '#a': 'a' },
      ExpressionAttributeValues: { ':a': { S: 'a' } },
    }
    const Put = { TableName, Item: { a: { S: 'unused' } }, ...unused }
    await expect(call('TransactWriteItems', { TransactItems: [{ Put }] })).resolves.toEqual({})
    const single = call('PutItem', Put)
    await expect(single).resolves.toMatchObject({ message: expect.stringMatching(/only be spec/) })
  })

  test('reports its token before anything else', async () => {
    const { message } = Object(
      await call('TransactWriteItems', {
        TransactItems: [{ Put: none }],
        ReturnConsumedCapacity: 'ALL',
        ClientRequestToken: token,
      }),
    )
    expect(message).toMatch(/^2 validation errors detected: Value 'x+' at 'clientRequestToken' /)
    expect(message).toContain(enumerated)
  })

  test.each<[string, object]>([
    ['GetItem', { Key }],
    ['DeleteItem', { Key }],
    ['UpdateItem', { Key }],
    ['BatchGetItem', { RequestItems: { [TableName]: { Keys: [Key] } } }],
    ['BatchWriteItem', { RequestItems: { [TableName]: [{ DeleteRequest: { Key } }] } }],
    ['TransactGetItems', { TransactItems: [{ Get: { TableName, Key } }] }],
  ])('has the same words for an empty key as %s', async (action, body) => {
    const named = action.includes('Batch') || action.includes('Transact') ? {} : { TableName }
    await expect(call(action, { ...named, ...body })).resolves.toMatchObject({
      message: `One or more parameter values are not valid. ${empty} Key: a`,
    })
  })

  test('that reads reports its reads, and nothing that an item lacks', async () => {
    const Item = { a: { S: 'read' } }
    await call('PutItem', { TableName, Item })
    const get = (ProjectionExpression: string) => ({
      TransactItems: [{ Get: { TableName, Key: Item, ProjectionExpression } }],
      ReturnConsumedCapacity: 'INDEXES',
    })
    const two = { CapacityUnits: 2, ReadCapacityUnits: 2 }
    const ConsumedCapacity = [{ TableName, ...two, Table: two }]
    const [some, nothing] = [get('a, lacking'), get('lacking')]
    await expect(call('TransactGetItems', some)).resolves.toEqual({
      Responses: [{ Item }],
      ConsumedCapacity,
    })
    await expect(call('TransactGetItems', nothing)).resolves.toEqual({
      Responses: [{}],
      ConsumedCapacity,
    })
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

describe('a batch', () => {
  const TableName = 'keyed'
  const Key = { a: { S: 'b' } }

  test('shows what was asked as Java writes it', async () => {
    const bound =
      "' at 'requestItems' failed to satisfy constraint: Map value must satisfy constraint: [Member must have length less than or equal to 25, Member must have length greater than or equal to 1]"
    await expect(
      call('BatchWriteItem', { RequestItems: { [TableName]: [] } }),
    ).resolves.toMatchObject({ message: `1 validation error detected: Value '{keyed=[]}${bound}` })
    const requests = [{ PutRequest: { Item: Key } }, { DeleteRequest: { Key } }]
    await expect(
      call('BatchWriteItem', { RequestItems: { 'a!!': requests } }),
    ).resolves.toMatchObject({
      message: expect.stringContaining(
        "'{a!!=[WriteRequest(putRequest=PutRequest(item={a=AttributeValue(s=b)}), deleteRequest=null), WriteRequest(putRequest=null, deleteRequest=DeleteRequest(key={a=AttributeValue(s=b)}))]}'",
      ),
    })
  })

  test('projects all of its tables in the manner of old, or none', async () => {
    const RequestItems = {
      [TableName]: { Keys: [Key], ProjectionExpression: 'a' },
      other: { Keys: [Key], AttributesToGet: ['a'] },
    }
    await expect(call('BatchGetItem', { RequestItems })).resolves.toMatchObject({
      message: expect.stringMatching(/^Can not use both expression and non-expression parameters/),
    })
  })

  test('misses a table before it finds an item too large', async () => {
    const Item = { ...Key, b: { S: 'x'.repeat(400 * 1024) } }
    const missing = { message: 'Requested resource not found' }
    const large = { message: 'Item size has exceeded the maximum allowed size' }
    const batch = (name: string) => ({ RequestItems: { [name]: [{ PutRequest: { Item } }] } })
    await expect(call('PutItem', { TableName: 'none', Item })).resolves.toMatchObject(missing)
    await expect(call('BatchWriteItem', batch('none'))).resolves.toMatchObject(missing)
    await expect(call('PutItem', { TableName, Item })).resolves.toMatchObject(large)
    await expect(call('BatchWriteItem', batch(TableName))).resolves.toMatchObject(large)
  })
})

describe('the resource name of a table', () => {
  const arn = 'arn:aws:dynamodb:us-east-1:000000000000:table/keyed'
  const Key = { a: { S: 'by-arn' } }

  test('will do where its name does, and is repeated', async () => {
    await call('PutItem', { TableName: arn, Item: Key })
    await expect(
      call('GetItem', { TableName: arn, Key, ReturnConsumedCapacity: 'TOTAL' }),
    ).resolves.toMatchObject({ Item: Key, ConsumedCapacity: { TableName: arn } })
    await expect(
      call('BatchGetItem', { RequestItems: { [arn]: { Keys: [Key] } } }),
    ).resolves.toMatchObject({ Responses: { [arn]: [Key] } })
    await expect(
      call('TransactGetItems', { TransactItems: [{ Get: { TableName: arn, Key } }] }),
    ).resolves.toMatchObject({ Responses: [{ Item: Key }] })
  })

  test('is none with anything behind it', async () => {
    await expect(call('GetItem', { TableName: `${arn}/index/by-x`, Key })).resolves.toMatchObject({
      message: expect.stringContaining('Member must satisfy regular expression pattern'),
    })
  })
})

test('no request made it fail', () => {
  expect(faults).toEqual([])
})
