import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { PostgresPlatform } from '#platform/postgres/postgres.ts'
import type { Table } from '#runtime/tables/table.ts'
import { type TestDatabase, openDatabase } from '#test/postgres.ts'

import { type EngineBench, insertSite, openEngine } from './table-engine.ts'

let postgres: PostgresPlatform & TestDatabase
let bench: EngineBench
let people: Table
let events: Table

const PEOPLE = { partitionKey: { name: 'id', type: 'S' } } as const
const EVENTS = {
  partitionKey: { name: 'room', type: 'S' },
  sortKey: { name: 'tick', type: 'N' },
  globalSecondaryIndexes: [
    {
      name: 'by-author',
      partitionKey: { name: 'author', type: 'S' },
      sortKey: { name: 'tick', type: 'N' },
    },
  ],
} as const
type Items = Record<string, unknown>[]

beforeAll(async () => {
  postgres = await openDatabase({ poolSize: 8 })
  bench = await openEngine(postgres)
  await insertSite(postgres, 'one')
  people = await bench.create('one', PEOPLE)
  events = await bench.create('one', {
    ...EVENTS,
    globalSecondaryIndexes: [...EVENTS.globalSecondaryIndexes],
  })
})
afterAll(async () => {
  await bench.queue[Symbol.asyncDispose]()
  await postgres[Symbol.asyncDispose]()
})

const put = (table: Table, item: unknown, rest: object = {}) =>
  bench.act(table, 'PutItem', { Item: item, ...rest })
const get = async (table: Table, key: unknown) =>
  (await bench.act(table, 'GetItem', { Key: key }))['Item']

const sorted = (ids: readonly unknown[]) =>
  ids.map(String).toSorted((one, other) => one.localeCompare(other))

describe('an item', () => {
  test('comes back exactly as it was put, whatever its strings hold', async () => {
    const item = {
      id: 'nul \0 and half \ud800 a pair \udc00',
      text: 'a\0b\ud83d\ude00\udfff"\\',
      number: { $number: '12345678901234567890123456789012345678' },
      bytes: { $binary: 'AAEC/w==' },
      set: { $set: ['a', 'b'] },
      deep: { list: [1, null, true, { __proto__: 'x', constructor: 'y' }] },
    }
    expect(await put(people, item)).toEqual({})
    expect(await get(people, { id: item.id })).toEqual(item)
    expect(await get(people, { id: 'nul \0 and half \ud801 a pair \udc00' })).toBeUndefined()
  })

  test('is replaced whole, and shown as it was on request', async () => {
    await put(people, { id: 'ann', a: 1 })
    expect(await put(people, { id: 'ann', b: 2 }, { ReturnValues: 'ALL_OLD' })).toEqual({
      Attributes: { id: 'ann', a: 1 },
    })
    expect(await get(people, { id: 'ann' })).toEqual({ id: 'ann', b: 2 })
  })

  test('is deleted, and shown as it was on request', async () => {
    await put(people, { id: 'bob', a: 1 })
    const answer = await bench.act(people, 'DeleteItem', {
      Key: { id: 'bob' },
      ReturnValues: 'ALL_OLD',
    })
    expect(answer).toEqual({ Attributes: { id: 'bob', a: 1 } })
    expect(await bench.act(people, 'DeleteItem', { Key: { id: 'bob' } })).toEqual({})
    expect(await get(people, { id: 'bob' })).toBeUndefined()
  })

  test('is updated, and made when there is none', async () => {
    const update = (returned: string) =>
      bench.act(people, 'UpdateItem', {
        Key: { id: 'cat' },
        UpdateExpression: 'SET #n = if_not_exists(#n, :zero) + :one',
        ExpressionAttributeNames: { '#n': 'n' },
        ExpressionAttributeValues: { ':one': 1, ':zero': 0 },
        ReturnValues: returned,
      })
    expect(await update('ALL_NEW')).toEqual({ Attributes: { id: 'cat', n: 1 } })
    expect(await update('UPDATED_OLD')).toEqual({ Attributes: { n: 1 } })
    expect(await update('UPDATED_NEW')).toEqual({ Attributes: { n: 3 } })
    expect(await update('NONE')).toEqual({})
  })

  test('is not made by an update that would only take something away', async () => {
    const updated = (text: string, values?: Record<string, unknown>) =>
      bench.act(people, 'UpdateItem', {
        Key: { id: 'gus' },
        UpdateExpression: text,
        ...(values && { ExpressionAttributeValues: values }),
        ReturnValues: 'ALL_NEW',
      })
    expect(await updated('REMOVE a, b.c[1]')).toEqual({})
    expect(await updated('DELETE a :s', { ':s': { $set: ['x'] } })).toEqual({})
    expect(await get(people, { id: 'gus' })).toBeUndefined()
    expect(await updated('REMOVE a ADD n :n', { ':n': 1 })).toEqual({
      Attributes: { id: 'gus', n: 1 },
    })
    expect(await updated('REMOVE n')).toEqual({ Attributes: { id: 'gus' } })
  })

  test.each([
    ['UPDATED_OLD', 'SET b = :v', { ':v': 1 }],
    ['UPDATED_NEW', 'SET l[7] = :v', { ':v': 1 }],
    ['UPDATED_NEW', 'REMOVE a', undefined],
    ['UPDATED_OLD', undefined, undefined],
  ])('shows no %s of %s where that is nothing', async (returned, text, values) => {
    await put(people, { id: 'fay', a: 1, l: [] })
    const answer = await bench.act(people, 'UpdateItem', {
      Key: { id: 'fay' },
      ...(text && { UpdateExpression: text }),
      ...(values && { ExpressionAttributeValues: values }),
      ReturnValues: returned,
    })
    expect(answer).toEqual({})
  })
})

describe('a condition', () => {
  test.each([
    ['PutItem', { Item: { id: 'dan', b: 2 } }],
    ['DeleteItem', { Key: { id: 'dan' } }],
    [
      'UpdateItem',
      {
        Key: { id: 'dan' },
        UpdateExpression: 'SET b = :b',
        ExpressionAttributeValues: { ':b': 2 },
      },
    ],
  ] as const)('keeps %s from what it does not hold of', async (action, body) => {
    await put(people, { id: 'dan', a: 1 })
    for (const condition of [
      'attribute_not_exists(id)',
      'attribute_not_exists(a)',
      'attribute_exists(b)',
    ]) {
      const request = { ...body, ConditionExpression: condition }
      await expect(bench.act(people, action, request)).rejects.toMatchObject({
        code: 'ConditionalCheckFailed',
        message: 'The conditional request failed',
        fields: undefined,
      })
      const shown = { ...request, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }
      await expect(bench.act(people, action, shown)).rejects.toMatchObject({
        fields: { item: { id: 'dan', a: 1 } },
      })
    }
    expect(await get(people, { id: 'dan' })).toEqual({ id: 'dan', a: 1 })
  })

  test('that asks for an item lets one be put over another, and none over nothing', async () => {
    const condition = { ConditionExpression: 'attribute_exists(id)' }
    await expect(put(people, { id: 'eve' }, condition)).rejects.toMatchObject({
      code: 'ConditionalCheckFailed',
    })
    await put(people, { id: 'eve' }, { ConditionExpression: 'attribute_not_exists(id)' })
    await put(people, { id: 'eve', a: 1 }, condition)
    expect(await get(people, { id: 'eve' })).toEqual({ id: 'eve', a: 1 })
  })
})

describe('a query', () => {
  const numbers = [-100, -2.5, -1, 0, 0.001, 1, 2, 10, 99, 1000]
  const query = async (rest: Record<string, unknown> & { ExpressionAttributeValues?: object }) =>
    bench.act(events, 'Query', {
      KeyConditionExpression: 'room = :r',
      ...rest,
      ExpressionAttributeValues: { ':r': 'q', ...rest.ExpressionAttributeValues },
    })
  const times = (answer: Record<string, unknown>) =>
    (answer['Items'] as Items).map(({ tick }) => tick)
  beforeAll(async () => {
    for (const tick of numbers.toReversed()) {
      await put(events, { room: 'q', tick, author: tick < 0 ? 'old' : 'new' })
    }
    await put(events, { room: 'other', tick: 1 })
  })

  test('gives a partition in the order of the sort key, and backwards', async () => {
    expect(times(await query({}))).toEqual(numbers)
    expect(times(await query({ ScanIndexForward: false }))).toEqual(numbers.toReversed())
  })

  test.each([
    ['tick = :a', [1], [1]],
    ['tick < :a', [1], [-100, -2.5, -1, 0, 0.001]],
    ['tick <= :a', [1], [-100, -2.5, -1, 0, 0.001, 1]],
    ['tick > :a', [1], [2, 10, 99, 1000]],
    ['tick >= :a', [1], [1, 2, 10, 99, 1000]],
    ['tick BETWEEN :a AND :b', [-1, 2], [-1, 0, 0.001, 1, 2]],
  ])('takes the part where %s', async (condition, [a, b], expected) => {
    const answer = await query({
      KeyConditionExpression: `room = :r AND ${condition}`,
      ExpressionAttributeValues: { ':a': a, ...(b !== undefined && { ':b': b }) },
    })
    expect(times(answer)).toEqual(expected)
  })

  test.each([true, false])('goes on after the last key (forward: %s)', async (forward) => {
    const found: unknown[] = []
    let start: unknown
    let pages = 0
    do {
      const answer = await query({
        Limit: 5,
        ScanIndexForward: forward,
        ...(start !== undefined && { ExclusiveStartKey: start }),
      })
      found.push(...times(answer))
      start = answer['LastEvaluatedKey']
      pages += 1
    } while (start !== undefined)
    expect(found).toEqual(forward ? numbers : numbers.toReversed())
    // Two full pages, and the one that finds that nothing follows.
    expect(pages).toBe(3)
  })

  test('counts the limit before the filter, and shows only what is asked for', async () => {
    const answer = await query({
      Limit: 4,
      FilterExpression: 'author = :x',
      ProjectionExpression: '#at',
      ExpressionAttributeNames: { '#at': 'tick' },
      ExpressionAttributeValues: { ':x': 'new' },
    })
    expect(answer).toEqual({
      Items: [{ tick: 0 }],
      Count: 1,
      ScannedCount: 4,
      LastEvaluatedKey: { room: 'q', tick: 0 },
    })
    expect(await query({ Select: 'COUNT' })).toEqual({ Count: 10, ScannedCount: 10 })
  })

  test('of an index gives what has its keys, forwards and backwards, page by page', async () => {
    const byAuthor = { IndexName: 'by-author', KeyConditionExpression: 'author = :r' }
    const ask = (rest: object) =>
      query({ ...byAuthor, ...rest, ExpressionAttributeValues: { ':r': 'new' } })
    expect(times(await ask({}))).toEqual([0, 0.001, 1, 2, 10, 99, 1000])
    const last = await ask({ Limit: 2, ScanIndexForward: false })
    expect(times(last)).toEqual([1000, 99])
    expect(last['LastEvaluatedKey']).toEqual({ author: 'new', tick: 99, room: 'q' })
    const next = await ask({
      Limit: 2,
      ScanIndexForward: false,
      ExclusiveStartKey: last['LastEvaluatedKey'],
    })
    expect(times(next)).toEqual([10, 2])
  })

  test('ends a page with the item that makes it 1 MiB', async () => {
    const text = 'x'.repeat(300_000)
    for (const at of [1, 2, 3, 4, 5]) await put(events, { room: 'large', tick: at, text })
    const answer = await query({ ExpressionAttributeValues: { ':r': 'large' } })
    expect(answer).toMatchObject({ Count: 4, LastEvaluatedKey: { room: 'large', tick: 4 } })
  })
})

async function scanAll(table: Table, segment: number, total: number): Promise<unknown[]> {
  const found: unknown[] = []
  let start: unknown
  do {
    const answer = await bench.act(table, 'Scan', {
      Segment: segment,
      TotalSegments: total,
      Limit: 7,
      ...(start !== undefined && { ExclusiveStartKey: start }),
    })
    found.push(...(answer['Items'] as Items).map(({ id }) => id))
    start = answer['LastEvaluatedKey']
  } while (start !== undefined)
  return found
}

describe('a scan', () => {
  test('of segments gives every item once', async () => {
    const table = await bench.create('one', PEOPLE)
    const ids = Array.from({ length: 60 }, (_, at) => `p${at}`)
    await Promise.all(ids.map((id) => put(table, { id })))
    for (const total of [1, 3, 7]) {
      const segments = Array.from({ length: total }, (_, at) => at)
      const found = await Promise.all(segments.map((segment) => scanAll(table, segment, total)))
      expect(sorted(found.flat())).toEqual(sorted(ids))
    }
    expect((await scanAll(table, 999_999, 1_000_000)).length).toBeLessThan(5)
  })

  test('refuses a start key of another segment', async () => {
    const table = await bench.create('one', PEOPLE)
    await Promise.all(Array.from({ length: 20 }, (_, at) => put(table, { id: `p${at}` })))
    const first = await bench.act(table, 'Scan', { Segment: 0, TotalSegments: 2, Limit: 1 })
    const other = { Segment: 1, TotalSegments: 2, ExclusiveStartKey: first['LastEvaluatedKey'] }
    await expect(bench.act(table, 'Scan', other)).rejects.toMatchObject({
      message: expect.stringContaining('use ExclusiveStartKey with correct Segment'),
    })
  })
})
