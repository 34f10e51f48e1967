import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { index, keys, openWire, strings, type WireEndpoint } from './wire-endpoint.ts'

const INVALID = 'One or more parameter values were invalid: '
const S = (...texts: readonly string[]) => texts.map((text) => ({ S: text }))
const compare = (ComparisonOperator: string, ...AttributeValueList: readonly object[]) => ({
  ComparisonOperator,
  AttributeValueList,
})

let wire: WireEndpoint
beforeAll(async () => {
  wire = await openWire()
})
afterAll(() => wire[Symbol.asyncDispose]())

const namesOf = (answer: Readonly<Record<string, unknown>>): readonly string[] =>
  Object(answer['Items']).map((item: Readonly<Record<string, { S: string }>>) => item['b']?.S)

describe('a parameter of old', () => {
  const TableName = 'old'
  const of = (b: string, more: object) => ({ a: { S: 'a' }, b: { S: b }, ...more })
  const here = compare('EQ', { S: 'a' })
  const filtered = (QueryFilter: object, more: object = {}) => ({
    TableName,
    KeyConditions: { a: here },
    QueryFilter,
    ...more,
  })
  const expecting = (Expected: object, more: object = {}) => ({
    TableName,
    Key: { a: { S: 'a' }, b: { S: 'full' } },
    AttributeUpdates: { touched: { Action: 'PUT', Value: { S: 'yes' } } },
    Expected,
    ...more,
  })
  const values: Readonly<Record<string, object>> = {
    list: { L: S('a') },
    map: { M: { x: { S: 'a' } } },
    flag: { BOOL: true },
    nothing: { NULL: true },
  }

  beforeAll(async () => {
    await wire.create({
      TableName,
      KeySchema: keys('a', 'b'),
      AttributeDefinitions: strings('a', 'b'),
    })
    for (const Item of [of('bare', {}), of('full', values)]) {
      await wire.do('PutItem', { TableName, Item })
    }
  })

  test.each(Object.entries(values))('compares %s values', async (name, value) => {
    const equal = await wire.do('Query', filtered({ [name]: compare('EQ', value) }))
    expect(namesOf(equal)).toEqual(['full'])
    const unequal = await wire.do('Query', filtered({ [name]: compare('NE', value) }))
    expect(namesOf(unequal)).toEqual(['bare'])
  })

  test('finds nothing about what is missing, whether it is to contain a value or not', async () => {
    for (const operator of ['CONTAINS', 'NOT_CONTAINS']) {
      const found = await wire.do('Query', filtered({ none: compare(operator, { S: 'a' }) }))
      expect(namesOf(found)).toEqual([])
      expect(
        await wire.fail('UpdateItem', expecting({ none: compare(operator, { S: 'a' }) })),
      ).toMatchObject({ type: 'ConditionalCheckFailedException' })
    }
  })

  test.each<[string, readonly object[], string]>([
    ['CONTAINS', [{ L: S('a') }], 'L'],
    ['NOT_CONTAINS', [{ L: S('a') }], 'L'],
    ['IN', [{ L: S('a') }, { L: S('b') }], 'L'],
    ['LT', [{ SS: ['a'] }], 'SS'],
    ['BEGINS_WITH', [{ N: '1' }], 'N'],
  ])('expects with %s only what it takes', async (operator, list, type) => {
    const message = `${INVALID}ComparisonOperator ${operator} is not valid for ${type} AttributeValue type`
    const request = expecting({ list: compare(operator, ...list) })
    expect(await wire.fail('UpdateItem', request)).toEqual({ type: 'ValidationException', message })
  })

  test('combines conditions only where there are two', async () => {
    const ConditionalOperator = 'OR'
    const none = 'ConditionalOperator cannot be used without Filter or Expected'
    const few =
      'ConditionalOperator can only be used when Filter or Expected has two or more elements'
    const mixed =
      'Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {Expected, ConditionalOperator} Expression parameters: {ConditionExpression}'
    const one = { list: compare('NULL') }
    const written = { Item: of('new', {}), Expected: one, ConditionExpression: 'a = b' }
    const requests: readonly [string, object, string][] = [
      ['UpdateItem', expecting({}, { ConditionalOperator }), none],
      ['UpdateItem', expecting(one, { ConditionalOperator }), few],
      ['Query', { TableName, ConditionalOperator }, none],
      ['Query', filtered(one, { ConditionalOperator }), few],
      ['Scan', { TableName, ConditionalOperator }, none],
      ['PutItem', { TableName, ConditionalOperator, ...written }, mixed],
    ]
    for (const [action, body, message] of requests) {
      expect(await wire.fail(action, body)).toMatchObject({ message })
    }
    const two = { ...one, none: compare('NULL') }
    await wire.do('UpdateItem', expecting(two, { ConditionalOperator }))
  })

  test.each([
    ['ALL_ATTRIBUTES', 'ALL_ATTRIBUTES'],
    ['COUNT', 'only the Count'],
  ])('is named beside %s', async (Select, shown) => {
    const AttributesToGet = ['b']
    expect(await wire.fail('Query', filtered({}, { Select, AttributesToGet }))).toMatchObject({
      message: `${INVALID}Cannot specify the AttributesToGet when choosing to get ${shown}`,
    })
    const { message } = await wire.fail('Scan', { TableName, Select, ProjectionExpression: 'b' })
    const words = `Cannot specify the ProjectionExpression when choosing to get ${shown}`
    expect(message).toBe(words)
    const queried = {
      TableName,
      Select,
      ProjectionExpression: 'b',
      KeyConditionExpression: 'a = :a',
      ExpressionAttributeValues: { ':a': { S: 'a' } },
    }
    expect(await wire.fail('Query', queried)).toMatchObject({
      message: `1 validation error detected: ${words}`,
    })
  })
})

describe('an index that holds only keys', () => {
  const TableName = 'partly'
  const onlyKeys = { ProjectionType: 'KEYS_ONLY' }
  const item = { a: { S: 'a' }, b: { S: 'b' }, x: { S: 'x' }, rest: { S: 'rest' } }
  const { rest, ...held } = item
  const globally = {
    TableName,
    IndexName: 'byX',
    KeyConditionExpression: 'x = :x',
    ExpressionAttributeValues: { ':x': item.x },
  }
  const locally = {
    TableName,
    IndexName: 'local',
    KeyConditionExpression: 'a = :a',
    ExpressionAttributeValues: { ':a': item.a },
  }
  const unfiltered = (name: string) =>
    `${INVALID}Secondary index ${name} does not project one or more filter attributes: [rest]`

  beforeAll(async () => {
    await wire.create({
      TableName,
      KeySchema: keys('a', 'b'),
      AttributeDefinitions: strings('a', 'b', 'x'),
      GlobalSecondaryIndexes: [index('byX', ['x'], onlyKeys)],
      LocalSecondaryIndexes: [index('local', ['a', 'x'], onlyKeys)],
    })
    await wire.do('PutItem', { TableName, Item: item })
  })

  test('shows them alone when nothing else is asked for', async () => {
    for (const request of [globally, locally]) {
      expect(await wire.do('Query', request)).toMatchObject({ Items: [held] })
    }
  })

  test('has the table add the rest, if it is local', async () => {
    const ProjectionExpression = 'rest'
    expect(await wire.do('Query', { ...locally, ProjectionExpression })).toMatchObject({
      Items: [{ rest }],
    })
    const scan = { TableName, IndexName: 'local', AttributesToGet: ['b', 'rest'] }
    expect(await wire.do('Scan', scan)).toMatchObject({ Items: [{ b: item.b, rest }] })
    expect(await wire.fail('Query', { ...globally, ProjectionExpression })).toEqual({
      type: 'ValidationException',
      message: `${INVALID}Global secondary index byX does not project [rest]`,
    })
  })

  test.each([{}, { Select: 'ALL_ATTRIBUTES' }, { ProjectionExpression: 'rest' }])(
    'filters by nothing else, beside %j',
    async (more) => {
      const FilterExpression = 'attribute_exists(rest)'
      expect(await wire.fail('Query', { ...locally, FilterExpression, ...more })).toMatchObject({
        message: unfiltered('local'),
      })
      const byKey = { ...locally, FilterExpression: 'attribute_exists(b)', ...more }
      expect(await wire.do('Query', byKey)).toMatchObject({ Count: 1 })
    },
  )

  test('filters by nothing else when it is global', async () => {
    const FilterExpression = 'attribute_exists(rest)'
    expect(
      await wire.fail('Scan', { TableName, IndexName: 'byX', FilterExpression }),
    ).toMatchObject({ message: unfiltered('byX') })
  })
})

describe('consumed capacity', () => {
  const TableName = 'metered'
  const Key = { a: { S: 'a' }, b: { S: 'b' } }
  const ReturnConsumedCapacity = 'INDEXES'
  const units = (CapacityUnits: number) => ({ CapacityUnits })
  const consumed = (table: number, global: number, local: number) => ({
    TableName,
    CapacityUnits: table + global + local,
    Table: units(table),
    ...(global > 0 && { GlobalSecondaryIndexes: { byX: units(global) } }),
    ...(local > 0 && { LocalSecondaryIndexes: { local: units(local) } }),
  })

  beforeAll(() =>
    wire.create({
      TableName,
      KeySchema: keys('a', 'b'),
      AttributeDefinitions: strings('a', 'b', 'x'),
      GlobalSecondaryIndexes: [index('byX', ['x'])],
      LocalSecondaryIndexes: [index('local', ['a', 'x'], { ProjectionType: 'KEYS_ONLY' })],
    }),
  )

  test('of a write is that of the indexes too that it changes', async () => {
    const put = (more: object) => ({ TableName, Item: { ...Key, ...more } })
    const change = (UpdateExpression: string, value: string) => ({
      TableName,
      Key,
      UpdateExpression,
      ExpressionAttributeValues: { ':v': { S: value } },
    })
    const writes: readonly [string, object, object][] = [
      ['PutItem', put({ x: { S: 'x' } }), consumed(1, 1, 1)],
      ['PutItem', put({ x: { S: 'x' } }), consumed(1, 0, 0)],
      ['UpdateItem', change('SET y = :v', 'y'), consumed(1, 1, 0)],
      ['UpdateItem', change('SET x = :v', 'other'), consumed(1, 2, 2)],
      ['PutItem', put({}), consumed(1, 1, 1)],
      ['PutItem', put({ y: { S: 'y' } }), consumed(1, 0, 0)],
      [
        'PutItem',
        put({ x: { S: 'x'.repeat(1000) }, y: { S: 'y'.repeat(1000) } }),
        consumed(2, 2, 1),
      ],
      ['DeleteItem', { TableName, Key }, consumed(2, 2, 1)],
    ]
    for (const [action, body, ConsumedCapacity] of writes) {
      const answer = await wire.do(action, { ...body, ReturnConsumedCapacity })
      expect(answer['ConsumedCapacity']).toEqual(ConsumedCapacity)
    }
  })

  test('of batches and transactions adds up', async () => {
    const times = (count: number) =>
      Array.from({ length: count }, (_, at) => ({
        a: { S: 'n' },
        b: { S: `${at}` },
        x: { S: 'x' },
      }))
    const batch = await wire.do('BatchWriteItem', {
      RequestItems: { [TableName]: times(3).map((Item) => ({ PutRequest: { Item } })) },
      ReturnConsumedCapacity,
    })
    expect(batch['ConsumedCapacity']).toEqual([consumed(3, 3, 3)])
    const transaction = await wire.do('TransactWriteItems', {
      TransactItems: times(2).map(({ a, b }) => ({ Delete: { TableName, Key: { a, b } } })),
      ReturnConsumedCapacity,
    })
    expect(transaction['ConsumedCapacity']).toEqual([consumed(4, 4, 4)])
  })

  test('of a page without items is that of looking for them', async () => {
    const query = {
      TableName,
      KeyConditionExpression: 'a = :a',
      ExpressionAttributeValues: { ':a': { S: 'nobody' } },
      ReturnConsumedCapacity,
    }
    const table = await wire.do('Query', query)
    expect(table['ConsumedCapacity']).toEqual(consumed(0.5, 0, 0))
    const local = await wire.do('Query', { ...query, IndexName: 'local', ConsistentRead: true })
    expect(local['ConsumedCapacity']).toEqual(consumed(0, 0, 1))
  })
})

test('no request made it fail', () => {
  expect(wire.faults).toEqual([])
})
