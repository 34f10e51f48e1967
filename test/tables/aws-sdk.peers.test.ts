import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  ConditionalCheckFailedException,
  CreateTableCommand,
  type CreateTableCommandInput,
  DeleteItemCommand,
  DeleteTableCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  GetItemCommand,
  IdempotentParameterMismatchException,
  LimitExceededException,
  ListTagsOfResourceCommand,
  paginateListTables,
  paginateQuery,
  paginateScan,
  PutItemCommand,
  QueryCommand,
  ResourceInUseException,
  ResourceNotFoundException,
  ScanCommand,
  TagResourceCommand,
  TransactGetItemsCommand,
  TransactionCanceledException,
  TransactWriteItemsCommand,
  UntagResourceCommand,
  UpdateItemCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
  waitUntilTableNotExists,
} from '@aws-sdk/client-dynamodb'
import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  NumberValue,
  paginateQuery as paginateDocuments,
  PutCommand,
  QueryCommand as QueryDocuments,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { type DynamoDbWire, startDynamoDbWire } from '#test/dynamodb-wire.ts'
import { openDatabase } from '#test/postgres.ts'

const running = new AsyncDisposableStack()
const faults: unknown[] = []
let wire: DynamoDbWire
let client: DynamoDBClient
let documents: DynamoDBDocumentClient

beforeAll(async () => {
  const { database, ...rest } = await openDatabase()
  running.use(rest)
  const onFault = (fault: unknown) => faults.push(fault)
  wire = running.use(await startDynamoDbWire({ database, onFault, transitionMs: 20 }))
  client = newClient()
  documents = DynamoDBDocumentClient.from(client)
  await createTable({ TableName: 'orders', ...ORDERS })
  await createTable({ TableName: 'notes', ...keyed('id') })
})

afterAll(async () => {
  await running.disposeAsync()
})

function newClient(): DynamoDBClient {
  const made = new DynamoDBClient({
    endpoint: wire.endpoint,
    region: 'local',
    credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
    maxAttempts: 1,
  })
  running.defer(() => made.destroy())
  return made
}

const keyed = (name: string): Omit<CreateTableCommandInput, 'TableName'> => ({
  AttributeDefinitions: [{ AttributeName: name, AttributeType: 'S' }],
  KeySchema: [{ AttributeName: name, KeyType: 'HASH' }],
  BillingMode: 'PAY_PER_REQUEST',
})

const ORDERS: Omit<CreateTableCommandInput, 'TableName'> = {
  AttributeDefinitions: [
    { AttributeName: 'customer', AttributeType: 'S' },
    { AttributeName: 'number', AttributeType: 'N' },
    { AttributeName: 'status', AttributeType: 'S' },
  ],
  KeySchema: [
    { AttributeName: 'customer', KeyType: 'HASH' },
    { AttributeName: 'number', KeyType: 'RANGE' },
  ],
  BillingMode: 'PAY_PER_REQUEST',
  GlobalSecondaryIndexes: [
    {
      IndexName: 'by-status',
      KeySchema: [
        { AttributeName: 'status', KeyType: 'HASH' },
        { AttributeName: 'number', KeyType: 'RANGE' },
      ],
      Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['total'] },
    },
  ],
  LocalSecondaryIndexes: [
    {
      IndexName: 'by-customer-status',
      KeySchema: [
        { AttributeName: 'customer', KeyType: 'HASH' },
        { AttributeName: 'status', KeyType: 'RANGE' },
      ],
      Projection: { ProjectionType: 'KEYS_ONLY' },
    },
  ],
}

async function createTable(input: CreateTableCommandInput): Promise<void> {
  await client.send(new CreateTableCommand(input))
  await active(String(input.TableName))
}

const waiting = () => ({ client, minDelay: 0.02, maxDelay: 0.1, maxWaitTime: 10 })
const active = (TableName: string) => waitUntilTableExists(waiting(), { TableName })

const describeTable = async (TableName: string) =>
  (await client.send(new DescribeTableCommand({ TableName }))).Table

describe('tables', () => {
  test('are made, described, listed in pages and deleted', async () => {
    const made = await client.send(
      new CreateTableCommand({
        TableName: 'made',
        ...keyed('id'),
        Tags: [{ Key: 'a', Value: 'b' }],
      }),
    )
    expect(made.TableDescription).toMatchObject({ TableStatus: 'CREATING', ItemCount: 0 })
    await expect(
      client.send(new GetItemCommand({ TableName: 'made', Key: { id: { S: 'a' } } })),
    ).rejects.toThrow(ResourceNotFoundException)
    await active('made')
    expect(await describeTable('made')).toMatchObject({
      TableStatus: 'ACTIVE',
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      BillingModeSummary: { BillingMode: 'PAY_PER_REQUEST' },
      CreationDateTime: expect.any(Date),
    })
    const names: string[] = []
    for await (const page of paginateListTables({ client, pageSize: 1 }, {})) {
      expect(page.TableNames).toHaveLength(1)
      names.push(...(page.TableNames ?? []))
    }
    expect(names).toEqual(['made', 'notes', 'orders'])

    const { TableDescription } = await client.send(new DeleteTableCommand({ TableName: 'made' }))
    expect(TableDescription?.TableStatus).toBe('DELETING')
    await waitUntilTableNotExists(waiting(), { TableName: 'made' })
    await expect(describeTable('made')).rejects.toThrow(
      'Requested resource not found: Table: made not found',
    )
  })

  test('count what they hold, and forget it when they are deleted', async () => {
    await createTable({ TableName: 'counted', ...keyed('id') })
    await client.send(new PutItemCommand({ TableName: 'counted', Item: { id: { S: 'a' } } }))
    expect(await describeTable('counted')).toMatchObject({ ItemCount: 1, TableSizeBytes: 3 })
    await client.send(new DeleteTableCommand({ TableName: 'counted' }))
    await waitUntilTableNotExists(waiting(), { TableName: 'counted' })
    await createTable({ TableName: 'counted', ...keyed('id') })
    const { Items } = await client.send(new ScanCommand({ TableName: 'counted' }))
    expect(Items).toEqual([])
  })

  test('gain and lose an index, items and all', async () => {
    await createTable({ TableName: 'indexed', ...keyed('id') })
    const items = ['a', 'b', 'c'].map((id) => ({ id: { S: id }, kind: { S: 'k' } }))
    for (const Item of items) await client.send(new PutItemCommand({ TableName: 'indexed', Item }))
    const update = (GlobalSecondaryIndexUpdates: object[]) =>
      client.send(
        new UpdateTableCommand({
          TableName: 'indexed',
          AttributeDefinitions: [{ AttributeName: 'kind', AttributeType: 'S' }],
          GlobalSecondaryIndexUpdates,
        }),
      )
    const index = {
      IndexName: 'by-kind',
      KeySchema: [{ AttributeName: 'kind', KeyType: 'HASH' }],
      Projection: { ProjectionType: 'ALL' },
    }
    const query = new QueryCommand({
      TableName: 'indexed',
      IndexName: 'by-kind',
      KeyConditionExpression: 'kind = :kind',
      ExpressionAttributeValues: { ':kind': { S: 'k' } },
    })
    const { TableDescription } = await update([{ Create: index }])
    expect(TableDescription).toMatchObject({
      TableStatus: 'UPDATING',
      GlobalSecondaryIndexes: [{ IndexStatus: 'CREATING', Backfilling: true }],
    })
    await expect(update([{ Delete: { IndexName: 'by-kind' } }])).rejects.toThrow(
      ResourceInUseException,
    )
    await active('indexed')
    expect(await client.send(query)).toMatchObject({ Count: 3 })
    await update([{ Delete: { IndexName: 'by-kind' } }])
    await active('indexed')
    expect((await describeTable('indexed'))?.GlobalSecondaryIndexes).toBeUndefined()
    await expect(client.send(query)).rejects.toThrow(
      'The table does not have the specified index: by-kind',
    )
    await expect(
      update([{ Create: index }, { Create: { ...index, IndexName: 'other' } }]),
    ).rejects.toThrow(LimitExceededException)
  })

  test('change what they cost, let items end, and carry tags', async () => {
    await createTable({ TableName: 'settings', ...keyed('id') })
    await client.send(
      new UpdateTableCommand({
        TableName: 'settings',
        BillingMode: 'PROVISIONED',
        ProvisionedThroughput: { ReadCapacityUnits: 2, WriteCapacityUnits: 3 },
      }),
    )
    await active('settings')
    const table = await describeTable('settings')
    expect(table?.ProvisionedThroughput).toMatchObject({ ReadCapacityUnits: 2 })
    await client.send(
      new UpdateTimeToLiveCommand({
        TableName: 'settings',
        TimeToLiveSpecification: { Enabled: true, AttributeName: 'ends' },
      }),
    )
    const described = await client.send(new DescribeTimeToLiveCommand({ TableName: 'settings' }))
    expect(described.TimeToLiveDescription).toEqual({
      TimeToLiveStatus: 'ENABLED',
      AttributeName: 'ends',
    })
    const Item = { id: { S: 'a' }, ends: { N: String(Math.floor(Date.now() / 1000) - 60) } }
    await client.send(new PutItemCommand({ TableName: 'settings', Item }))
    const gone = new GetItemCommand({ TableName: 'settings', Key: { id: { S: 'a' } } })
    expect((await client.send(gone)).Item).toBeUndefined()

    const ResourceArn = table?.TableArn
    await client.send(new TagResourceCommand({ ResourceArn, Tags: [{ Key: 'a', Value: '1' }] }))
    const tags = new ListTagsOfResourceCommand({ ResourceArn })
    expect((await client.send(tags)).Tags).toEqual([{ Key: 'a', Value: '1' }])
    await client.send(new UntagResourceCommand({ ResourceArn, TagKeys: ['a'] }))
    expect((await client.send(tags)).Tags).toEqual([])
  })

  test.each<[string, () => Promise<unknown>, new (...given: never[]) => Error]>([
    [
      'made twice',
      () => client.send(new CreateTableCommand({ TableName: 'notes', ...keyed('id') })),
      ResourceInUseException,
    ],
    [
      'deleted and not there',
      () => client.send(new DeleteTableCommand({ TableName: 'none' })),
      ResourceNotFoundException,
    ],
    [
      'read and not there',
      () => client.send(new ScanCommand({ TableName: 'none' })),
      ResourceNotFoundException,
    ],
  ])('are not %s', async (_name, work, error) => {
    await expect(work()).rejects.toThrow(error)
  })
})

describe('items', () => {
  test('are put, read, updated and deleted', async () => {
    const TableName = 'orders'
    const Key = { customer: { S: 'ann' }, number: { N: '1' } }
    const all = {
      ...Key,
      text: { S: 'é\u0000' },
      bytes: { B: new Uint8Array([0, 255]) },
      yes: { BOOL: true },
      nothing: { NULL: true },
      list: { L: [{ S: 'a' }, { N: '1' }] },
      map: { M: { a: { M: {} } } },
      texts: { SS: ['a', 'b'] },
      numbers: { NS: ['1', '2.5'] },
      many: { BS: [new Uint8Array([1])] },
    }
    await client.send(new PutItemCommand({ TableName, Item: all }))
    expect((await client.send(new GetItemCommand({ TableName, Key }))).Item).toEqual(all)
    const updated = await client.send(
      new UpdateItemCommand({
        TableName,
        Key,
        UpdateExpression: 'SET #t = :t, #l[1] = :n REMOVE #m.a ADD #c :n DELETE texts :gone',
        ExpressionAttributeNames: { '#t': 'text', '#l': 'list', '#m': 'map', '#c': 'count' },
        ExpressionAttributeValues: {
          ':t': { S: 'new' },
          ':n': { N: '2' },
          ':gone': { SS: ['a'] },
        },
        ReturnValues: 'UPDATED_NEW',
        ReturnConsumedCapacity: 'TOTAL',
      }),
    )
    expect(updated.Attributes).toEqual({
      text: { S: 'new' },
      list: { L: [{ N: '2' }] },
      count: { N: '2' },
      texts: { SS: ['b'] },
    })
    expect(updated.ConsumedCapacity).toMatchObject({ CapacityUnits: 1, TableName })
    const gone = await client.send(
      new DeleteItemCommand({ TableName, Key, ReturnValues: 'ALL_OLD' }),
    )
    expect(gone.Attributes).toMatchObject({ text: { S: 'new' }, map: { M: {} } })
    expect((await client.send(new GetItemCommand({ TableName, Key }))).Item).toBeUndefined()
  })

  test('keep their place against a condition, and say what was there', async () => {
    const Item = { id: { S: 'taken' }, by: { S: 'first' } }
    await client.send(new PutItemCommand({ TableName: 'notes', Item }))
    const failure = await client
      .send(
        new PutItemCommand({
          TableName: 'notes',
          Item: { id: { S: 'taken' } },
          ConditionExpression: 'attribute_not_exists(id)',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      )
      .catch((fault: unknown) => fault)
    expect(failure).toBeInstanceOf(ConditionalCheckFailedException)
    expect(failure).toMatchObject({ message: 'The conditional request failed', Item })
  })

  test('are found by old parameters too', async () => {
    for (const number of ['1', '2', '3']) {
      await client.send(
        new UpdateItemCommand({
          TableName: 'orders',
          Key: { customer: { S: 'legacy' }, number: { N: number } },
          AttributeUpdates: {
            status: { Action: 'PUT', Value: { S: number === '2' ? 'paid' : 'open' } },
            list: { Action: 'ADD', Value: { L: [{ N: number }] } },
          },
          Expected: { status: { Exists: false } },
        }),
      )
    }
    const { Items, Count, ScannedCount } = await client.send(
      new QueryCommand({
        TableName: 'orders',
        KeyConditions: {
          customer: { ComparisonOperator: 'EQ', AttributeValueList: [{ S: 'legacy' }] },
          number: { ComparisonOperator: 'GT', AttributeValueList: [{ N: '1' }] },
        },
        QueryFilter: { status: { ComparisonOperator: 'NE', AttributeValueList: [{ S: 'paid' }] } },
        AttributesToGet: ['status', 'list'],
      }),
    )
    expect([Items, Count, ScannedCount]).toEqual([
      [{ status: { S: 'open' }, list: { L: [{ N: '3' }] } }],
      1,
      2,
    ])
  })

  test('are scanned and queried page by page, through indexes as well', async () => {
    const customers = ['page-a', 'page-b']
    for (const customer of customers) {
      await client.send(
        new BatchWriteItemCommand({
          RequestItems: {
            orders: Array.from({ length: 12 }, (_each, number) => ({
              PutRequest: {
                Item: {
                  customer: { S: customer },
                  number: { N: String(number) },
                  status: { S: number % 2 === 0 ? 'even' : 'odd' },
                  total: { N: '9' },
                  hidden: { S: 'x' },
                },
              },
            })),
          },
        }),
      )
    }
    const found: (string | undefined)[] = []
    const query = {
      TableName: 'orders',
      KeyConditionExpression: 'customer = :c AND #n BETWEEN :a AND :b',
      ExpressionAttributeNames: { '#n': 'number' },
      ExpressionAttributeValues: { ':c': { S: 'page-a' }, ':a': { N: '2' }, ':b': { N: '9' } },
      ScanIndexForward: false,
    }
    for await (const { Items = [] } of paginateQuery({ client, pageSize: 3 }, query)) {
      found.push(...Items.map((item) => item['number']?.N))
    }
    expect(found).toEqual(['9', '8', '7', '6', '5', '4', '3', '2'])

    const even = await client.send(
      new QueryCommand({
        TableName: 'orders',
        IndexName: 'by-status',
        KeyConditionExpression: '#s = :s',
        ExpressionAttributeNames: { '#s': 'status' },
        ExpressionAttributeValues: { ':s': { S: 'even' } },
        ReturnConsumedCapacity: 'INDEXES',
      }),
    )
    expect(even.Count).toBe(12)
    const [first = {}] = even.Items ?? []
    expect(Object.keys(first).toSorted()).toEqual(['customer', 'number', 'status', 'total'])
    expect(even.ConsumedCapacity?.GlobalSecondaryIndexes).toEqual({
      'by-status': { CapacityUnits: 0.5 },
    })
    const local = await client.send(
      new QueryCommand({
        TableName: 'orders',
        IndexName: 'by-customer-status',
        ConsistentRead: true,
        KeyConditionExpression: 'customer = :c AND begins_with(#s, :s)',
        ExpressionAttributeNames: { '#s': 'status' },
        ExpressionAttributeValues: { ':c': { S: 'page-b' }, ':s': { S: 'o' } },
        Select: 'ALL_ATTRIBUTES',
      }),
    )
    expect(local.Items?.map((item) => item['hidden'])).toEqual(Array(6).fill({ S: 'x' }))

    const scanned = await Promise.all([0, 1, 2].map((segment) => scanSegment(segment)))
    const ours = scanned.flat().filter((key) => key.includes('page-'))
    expect([ours.length, new Set(ours).size]).toEqual([24, 24])
  })

  async function scanSegment(Segment: number): Promise<string[]> {
    const keys: string[] = []
    const scan = { TableName: 'orders', Segment, TotalSegments: 3 }
    for await (const { Items = [] } of paginateScan({ client, pageSize: 4 }, scan)) {
      keys.push(...Items.map(({ customer, number }) => JSON.stringify([customer, number])))
    }
    return keys
  }

  test('come and go in batches', async () => {
    const ids = ['batch-1', 'batch-2', 'batch-3']
    const wrote = await client.send(
      new BatchWriteItemCommand({
        RequestItems: {
          notes: ids.map((id) => ({ PutRequest: { Item: { id: { S: id } } } })),
          orders: [{ PutRequest: { Item: { customer: { S: 'batch' }, number: { N: '1' } } } }],
        },
        ReturnConsumedCapacity: 'TOTAL',
      }),
    )
    expect(wrote.UnprocessedItems).toEqual({})
    expect(wrote.ConsumedCapacity).toHaveLength(2)
    const { Responses } = await client.send(
      new BatchGetItemCommand({
        RequestItems: {
          notes: { Keys: [...ids, 'batch-none'].map((id) => ({ id: { S: id } })) },
          orders: {
            Keys: [{ customer: { S: 'batch' }, number: { N: '1' } }],
            ProjectionExpression: 'customer',
          },
        },
      }),
    )
    expect(Responses?.['notes']).toHaveLength(3)
    expect(Responses?.['orders']).toEqual([{ customer: { S: 'batch' } }])
    const twice = { PutRequest: { Item: { id: { S: 'batch-1' } } } }
    await expect(
      client.send(new BatchWriteItemCommand({ RequestItems: { notes: [twice, twice] } })),
    ).rejects.toThrow('Provided list of item keys contains duplicates')
  })

  test('change together or not at all', async () => {
    const put = (id: string, ClientRequestToken: string) =>
      client.send(
        new TransactWriteItemsCommand({
          ClientRequestToken,
          TransactItems: [
            { Put: { TableName: 'notes', Item: { id: { S: id } } } },
            {
              Update: {
                TableName: 'notes',
                Key: { id: { S: 'counter' } },
                UpdateExpression: 'ADD n :one',
                ExpressionAttributeValues: { ':one': { N: '1' } },
              },
            },
          ],
        }),
      )
    await put('together', 'token-1')
    await put('together', 'token-1')
    await expect(put('other', 'token-1')).rejects.toThrow(IdempotentParameterMismatchException)
    const { Responses } = await client.send(
      new TransactGetItemsCommand({
        TransactItems: ['together', 'counter', 'none'].map((id) => ({
          Get: { TableName: 'notes', Key: { id: { S: id } } },
        })),
      }),
    )
    expect(Responses?.map((each) => each.Item)).toEqual([
      { id: { S: 'together' } },
      { id: { S: 'counter' }, n: { N: '1' } },
      undefined,
    ])
    const cancelled = await client
      .send(
        new TransactWriteItemsCommand({
          TransactItems: [
            { Delete: { TableName: 'notes', Key: { id: { S: 'together' } } } },
            {
              ConditionCheck: {
                TableName: 'notes',
                Key: { id: { S: 'counter' } },
                ConditionExpression: 'n > :n',
                ExpressionAttributeValues: { ':n': { N: '5' } },
                ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
              },
            },
          ],
        }),
      )
      .catch((fault: unknown) => fault)
    expect(cancelled).toBeInstanceOf(TransactionCanceledException)
    expect(cancelled).toMatchObject({
      CancellationReasons: [
        { Code: 'None' },
        {
          Code: 'ConditionalCheckFailed',
          Message: 'The conditional request failed',
          Item: { n: { N: '1' } },
        },
      ],
    })
    const kept = new GetItemCommand({ TableName: 'notes', Key: { id: { S: 'together' } } })
    expect((await client.send(kept)).Item).toBeDefined()
  })
})

describe('documents', () => {
  test('are plain objects, sets and numbers of any length', async () => {
    const note = {
      id: 'document',
      tags: new Set(['a', 'b']),
      nested: { list: [1, 'two', null, true], bytes: new Uint8Array([1, 2]) },
      large: NumberValue.from('12345678901234567890123456789012345678'),
    }
    await documents.send(new PutCommand({ TableName: 'notes', Item: note }))
    const exact = DynamoDBDocumentClient.from(newClient(), {
      unmarshallOptions: { wrapNumbers: true },
    })
    const { Item } = await exact.send(
      new GetCommand({ TableName: 'notes', Key: { id: 'document' } }),
    )
    expect(Item).toMatchObject({ tags: note.tags, large: { value: note.large.value } })
    const { Attributes } = await documents.send(
      new UpdateCommand({
        TableName: 'notes',
        Key: { id: 'document' },
        UpdateExpression: 'SET nested.#l = list_append(nested.#l, :more) REMOVE #g',
        ExpressionAttributeNames: { '#l': 'list', '#g': 'large' },
        ExpressionAttributeValues: { ':more': [{ a: 1 }] },
        ReturnValues: 'ALL_NEW',
      }),
    )
    expect(Attributes).toMatchObject({ nested: { list: [1, 'two', null, true, { a: 1 }] } })
    await documents.send(new DeleteCommand({ TableName: 'notes', Key: { id: 'document' } }))
  })

  test('are queried, batched and changed together', async () => {
    const items = [3, 1, 2].map((number) => ({ customer: 'doc', number, status: 'new' }))
    await documents.send(
      new BatchWriteCommand({
        RequestItems: { orders: items.map((Item) => ({ PutRequest: { Item } })) },
      }),
    )
    const numbers: unknown[] = []
    const pages = paginateDocuments(
      { client: documents, pageSize: 2 },
      {
        TableName: 'orders',
        KeyConditionExpression: 'customer = :c',
        ExpressionAttributeValues: { ':c': 'doc' },
      },
    )
    for await (const { Items = [] } of pages) numbers.push(...Items.map((item) => item['number']))
    expect(numbers).toEqual([1, 2, 3])
    await documents.send(
      new TransactWriteCommand({
        TransactItems: [
          { Delete: { TableName: 'orders', Key: { customer: 'doc', number: 1 } } },
          {
            Update: {
              TableName: 'orders',
              Key: { customer: 'doc', number: 2 },
              UpdateExpression: 'SET #s = :s',
              ExpressionAttributeNames: { '#s': 'status' },
              ExpressionAttributeValues: { ':s': 'done' },
            },
          },
        ],
      }),
    )
    const { Items } = await documents.send(
      new QueryDocuments({
        TableName: 'orders',
        IndexName: 'by-status',
        KeyConditionExpression: '#s = :s',
        ExpressionAttributeNames: { '#s': 'status' },
        ExpressionAttributeValues: { ':s': 'done' },
      }),
    )
    expect(Items).toEqual([{ customer: 'doc', number: 2, status: 'done' }])
    const { Responses } = await documents.send(
      new BatchGetCommand({
        RequestItems: {
          orders: { Keys: items.map(({ customer, number }) => ({ customer, number })) },
        },
      }),
    )
    expect(Responses?.['orders']).toHaveLength(2)
  })
})

test('no request made the endpoint fail', () => {
  expect(faults).toEqual([])
})
