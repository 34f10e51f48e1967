import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { index, keys, openWire, strings, type WireEndpoint } from './wire-endpoint.ts'

const UNITS = { ReadCapacityUnits: 2, WriteCapacityUnits: 3 }
const LONG = 'n'.repeat(256)
const INVALID = 'One or more parameter values were invalid: '

let wire: WireEndpoint
beforeAll(async () => {
  wire = await openWire()
})
afterAll(() => wire[Symbol.asyncDispose]())

describe('a table', () => {
  const simple = { KeySchema: keys('a'), AttributeDefinitions: strings('a', 'x') }
  const indexed = (Projection: object) => ({
    ...simple,
    GlobalSecondaryIndexes: [index('byX', ['x'], Projection)],
  })
  const provisioned = { BillingMode: 'PROVISIONED', ProvisionedThroughput: UNITS }
  const tooLong = `'${LONG}'`

  test.each<[string, object, string]>([
    [
      'an attribute defined twice',
      {
        KeySchema: keys('a'),
        AttributeDefinitions: [...strings('a'), { AttributeName: 'a', AttributeType: 'N' }],
      },
      'Attribute Name is duplicated: a',
    ],
    [
      'an attribute that no key uses',
      { ...simple, GlobalSecondaryIndexes: [index('byA', ['a'])] },
      `${INVALID}Some AttributeDefinitions are not used. AttributeDefinitions: [a, x], keys used: [a]`,
    ],
    [
      'a projection of nothing',
      indexed({ ProjectionType: 'INCLUDE' }),
      `${INVALID}ProjectionType is INCLUDE, but NonKeyAttributes is not specified`,
    ],
    [
      'an attribute projected twice',
      indexed({ ProjectionType: 'INCLUDE', NonKeyAttributes: ['b', 'c', 'b'] }),
      `${INVALID}Duplicate element in NonKeyAttributes: b`,
    ],
    [
      'an index without the units of its table',
      { ...indexed({ ProjectionType: 'ALL' }), ...provisioned },
      `${INVALID}ProvisionedThroughput is not specified for index: byX`,
    ],
    [
      'a long name of a key',
      { KeySchema: keys(LONG), AttributeDefinitions: strings('a') },
      `1 validation error detected: Value ${tooLong} at 'keySchema.1.member.attributeName' failed to satisfy constraint: Member must have length less than or equal to 255`,
    ],
    [
      'a long name of what an index holds',
      indexed({ ProjectionType: 'INCLUDE', NonKeyAttributes: [LONG] }),
      `1 validation error detected: Value ${tooLong} at 'globalSecondaryIndexes.1.member.projection.nonKeyAttributes.1.member' failed to satisfy constraint: Member must have length less than or equal to 255`,
    ],
    [
      'a tag of forbidden characters',
      { ...simple, AttributeDefinitions: strings('a'), Tags: [{ Key: 'a!', Value: '' }] },
      'The Tag Key provided is invalid, Key: a!',
    ],
  ])('is refused for %s, and not made', async (_what, body, message) => {
    const request = { TableName: 'refused', BillingMode: 'PAY_PER_REQUEST', ...body }
    expect(await wire.fail('CreateTable', request)).toEqual({
      type: 'ValidationException',
      message,
    })
    expect((await wire.do('ListTables', {}))['TableNames']).not.toContain('refused')
  })

  test('has been on demand since it was made, and says nothing of its schema when it goes', async () => {
    const request = { ...simple, GlobalSecondaryIndexes: [index('byX', ['x'])] }
    await wire.create({ TableName: 'going', ...request })
    const { BillingModeSummary: summary, CreationDateTime: created } = await wire.settled('going')
    expect(summary).toEqual({
      BillingMode: 'PAY_PER_REQUEST',
      LastUpdateToPayPerRequestDateTime: created,
    })
    const { TableDescription: gone } = await wire.do('DeleteTable', { TableName: 'going' })
    expect(Object.keys(Object(gone)).toSorted()).toEqual([
      'BillingModeSummary',
      'ItemCount',
      'ProvisionedThroughput',
      'TableArn',
      'TableId',
      'TableName',
      'TableSizeBytes',
      'TableStatus',
      'TableThroughputModeSummary',
    ])
  })
})

describe('a change of indexes', () => {
  const create = (more: object = {}, names: readonly string[] = ['x']) => ({
    AttributeDefinitions: strings(...names),
    GlobalSecondaryIndexUpdates: [{ Create: { ...index('new', names), ...more } }],
  })
  const remove = { Delete: { IndexName: 'byX' } }

  beforeAll(async () => {
    const request = {
      KeySchema: keys('a', 'b'),
      AttributeDefinitions: strings('a', 'b', 'x'),
      LocalSecondaryIndexes: [index('local', ['a', 'x'])],
    }
    await wire.create({ TableName: 'onDemand', ...request })
    await wire.create({
      TableName: 'provisioned',
      ...request,
      BillingMode: 'PROVISIONED',
      ProvisionedThroughput: UNITS,
    })
  })

  test.each<[string, string, object, string]>([
    [
      'two actions in one',
      'onDemand',
      { GlobalSecondaryIndexUpdates: [{ ...create().GlobalSecondaryIndexUpdates[0], ...remove }] },
      `${INVALID}Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object`,
    ],
    [
      'no definitions, although the table has them',
      'onDemand',
      { ...create(), AttributeDefinitions: undefined },
      `${INVALID}AttributeDefinitions is not specified for index: new`,
    ],
    [
      'definitions without the key',
      'onDemand',
      { ...create(), AttributeDefinitions: strings('a') },
      `${INVALID}Some index key attributes are not defined in AttributeDefinitions. Keys: [x], AttributeDefinitions: [a]`,
    ],
    [
      'another type of a known attribute',
      'onDemand',
      { ...create(), AttributeDefinitions: [{ AttributeName: 'x', AttributeType: 'N' }] },
      `${INVALID}Attributes cannot be redefined. Please check that your attribute has the same type as previously defined. Existing schema: Schema:[SchemaElement: key{x:S:HASH}] New schema: Schema:[SchemaElement: key{x:N:HASH}]`,
    ],
    [
      'units on demand',
      'onDemand',
      create({ ProvisionedThroughput: UNITS }),
      `${INVALID}Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for index: new when BillingMode is PAY_PER_REQUEST`,
    ],
    [
      'no units where they are provisioned',
      'provisioned',
      create(),
      `${INVALID}Both ReadCapacityUnits and WriteCapacityUnits must be specified for index: new`,
    ],
    [
      'the end of a local index',
      'onDemand',
      { GlobalSecondaryIndexUpdates: [{ Delete: { IndexName: 'local' } }] },
      'Cannot delete an index that is not a GlobalSecondaryIndex: local',
    ],
  ])('is refused for %s', async (_what, TableName, body, message) => {
    expect(await wire.fail('UpdateTable', { TableName, ...body })).toEqual({
      type: 'ValidationException',
      message,
    })
  })

  test('forgets definitions that nothing uses', async () => {
    const request = { ...create(), AttributeDefinitions: strings('x', 'unused') }
    await wire.do('UpdateTable', { TableName: 'onDemand', ...request })
    const { AttributeDefinitions: known } = await wire.settled('onDemand')
    expect(known).toEqual(strings('a', 'b', 'x'))
  })
})

describe('items beside each other', () => {
  const TableName = 'collected'
  const Item = { a: { S: 'a' }, b: { S: 'b' } }
  const asked = { TableName, ReturnItemCollectionMetrics: 'SIZE' }

  test('are reported as a collection where there is a local index', async () => {
    const local = { LocalSecondaryIndexes: [index('byX', ['a', 'x'])] }
    await wire.create({
      TableName,
      KeySchema: keys('a', 'b'),
      AttributeDefinitions: strings('a', 'b', 'x'),
      ...local,
    })
    const collection = {
      ItemCollectionMetrics: { ItemCollectionKey: { a: Item.a }, SizeEstimateRangeGB: [0, 1] },
    }
    expect(await wire.do('PutItem', { ...asked, Item })).toEqual(collection)
    expect(await wire.do('DeleteItem', { ...asked, Key: Item })).toEqual(collection)
    expect(await wire.do('PutItem', { TableName, Item })).toEqual({})
  })
})

describe('tags', () => {
  const ResourceArn = 'arn:aws:dynamodb:us-east-1:000000000000:table/tagged'
  const add = (tags: Readonly<Record<string, string | undefined>>) => ({
    ResourceArn,
    Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })),
  })
  const numbered = (from: number, to: number) =>
    Object.fromEntries(Array.from({ length: to - from }, (_, at) => [`t${from + at}`, '']))

  beforeAll(() =>
    wire.create({
      TableName: 'tagged',
      KeySchema: keys('a'),
      AttributeDefinitions: strings('a'),
    }),
  )

  test.each<[string, object, string]>([
    ['an empty key', add({ '': 'a' }), 'The Tag Key provided is invalid, Key: '],
    ['a long key', add({ [LONG.slice(0, 129)]: 'a' }), `Key: ${LONG.slice(0, 129)}`],
    ['no value', add({ a: undefined }), 'The Tag Value provided is invalid, Value: null'],
    ['a long value', add({ a: `${LONG}n` }), `Value: ${LONG}n`],
    ['forbidden characters', add({ a: '<b>' }), 'The Tag Value provided is invalid, Value: <b>'],
    ['a key of AWS', add({ 'aws:a': '' }), 'Tag Key cannot be prefixed with aws:, Key: aws:a'],
    [
      'a key twice',
      { ResourceArn, Tags: [...add({ a: '1' }).Tags, ...add({ a: '2' }).Tags] },
      'Duplicate Tag Keys provided as input: Duplicate Tag Key found a',
    ],
    [
      'more than fifty',
      add(numbered(0, 51)),
      'Number of Tags exceed the current limit for the provided ResourceArn',
    ],
  ])('are refused for %s', async (_what, body, message) => {
    const refusal = await wire.fail('TagResource', body)
    expect(refusal.type).toBe('ValidationException')
    expect(refusal.message).toContain(message)
    expect(await wire.do('ListTagsOfResource', { ResourceArn })).toEqual({ Tags: [] })
  })

  test('are counted with those that are there', async () => {
    await wire.do('CreateTable', {
      TableName: 'full',
      KeySchema: keys('a'),
      AttributeDefinitions: strings('a'),
      BillingMode: 'PAY_PER_REQUEST',
      Tags: add(numbered(0, 50)).Tags,
    })
    const full = { ResourceArn: ResourceArn.replace('tagged', 'full') }
    expect(await wire.fail('TagResource', { ...add({ one: '' }), ...full })).toMatchObject({
      message: 'Number of Tags exceed the current limit for the provided ResourceArn',
    })
  })
})

test('a time to live is changed only by the name that it has', async () => {
  const TableName = 'ending'
  const of = (AttributeName: string, Enabled: boolean) => ({
    TableName,
    TimeToLiveSpecification: { AttributeName, Enabled },
  })
  await wire.create({
    TableName,
    KeySchema: keys('a'),
    AttributeDefinitions: strings('a'),
  })
  await wire.do('UpdateTimeToLive', of('ends', true))
  const different =
    'TimeToLive is active on a different AttributeName: current AttributeName is ends'
  for (const enabled of [true, false]) {
    const { message } = await wire.fail('UpdateTimeToLive', of('other', enabled))
    expect(message).toBe(different)
  }
  await wire.do('UpdateTimeToLive', of('ends', false))
  const { TimeToLiveDescription: description } = await wire.do('DescribeTimeToLive', { TableName })
  expect(description).toEqual({ TimeToLiveStatus: 'DISABLED' })
})

describe('the endpoint', () => {
  test('names itself as it was called', async () => {
    const { host } = new URL(wire.url)
    expect(await wire.do('DescribeEndpoints', {})).toEqual({
      Endpoints: [
        { Address: expect.stringContaining(host.split(':')[1] ?? ''), CachePeriodInMinutes: 1440 },
      ],
    })
    const named = wire.url.replace('127.0.0.1', 'localhost')
    expect(await (await fetch(named)).text()).toBe(`healthy: ${new URL(named).host} `)
    expect(await (await fetch(wire.url)).text()).toBe('healthy: dynamodb.us-east-1.amazonaws.com ')
  })

  test('is healthy nowhere but at its root', async () => {
    expect((await fetch(new URL('/health', wire.url))).status).toBe(404)
  })

  test('made no mistake', () => {
    expect(wire.faults).toEqual([])
  })
})
