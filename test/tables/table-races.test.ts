import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { PostgresPlatform } from '#platform/postgres/postgres.ts'
import type { Table } from '#runtime/tables/table.ts'
import { type TestDatabase, openDatabase } from '#test/postgres.ts'

import { type EngineBench, insertSite, openEngine } from './table-engine.ts'

let postgres: PostgresPlatform & TestDatabase
/** Two replicas: each has its own turns and its own memory of layouts. */
let replicas: readonly [EngineBench, EngineBench]

const SCHEMA = {
  partitionKey: { name: 'id', type: 'S' as const },
  globalSecondaryIndexes: [
    { name: 'by-color', partitionKey: { name: 'color', type: 'S' as const } },
  ],
}

beforeAll(async () => {
  postgres = await openDatabase({ poolSize: 12 })
  replicas = [await openEngine(postgres), await openEngine(postgres)]
  await insertSite(postgres, 'one')
})
afterAll(async () => {
  for (const { queue } of replicas) await queue[Symbol.asyncDispose]()
  await postgres[Symbol.asyncDispose]()
})

const times = <Result>(count: number, work: (at: number) => Promise<Result>) =>
  Promise.all(Array.from({ length: count }, (_, at) => work(at)))
const replica = (at: number): EngineBench => replicas[at % 2 === 0 ? 0 : 1]

const add = (bench: EngineBench, table: Table, id: string) =>
  bench.act(table, 'UpdateItem', {
    Key: { id },
    UpdateExpression: 'ADD hits :one',
    ExpressionAttributeValues: { ':one': 1 },
    ReturnValues: 'UPDATED_NEW',
  })

/** What an index says of every color, and what the items say. */
async function colors(table: Table) {
  const [bench] = replicas
  const items = (await bench.act(table, 'Scan', {}))['Items'] as Record<string, unknown>[]
  const indexed = (await bench.act(table, 'Scan', { IndexName: 'by-color' }))['Items'] as Record<
    string,
    unknown
  >[]
  const text = (item: Record<string, unknown>) => JSON.stringify(item)
  const order = (one: string, other: string) => (one < other ? -1 : 1)
  return {
    items: items
      .filter((item) => 'color' in item)
      .map(text)
      .toSorted(order),
    indexed: indexed.map(text).toSorted(order),
  }
}

describe('at once', () => {
  test('100 additions to a counter that is not there yet count 100', async () => {
    const table = await replicas[0].create('one', { partitionKey: SCHEMA.partitionKey })
    const answers = await times(100, (at) => add(replica(at), table, 'counter'))
    const seen = answers.map((answer) => (answer['Attributes'] as { hits: number }).hits)
    expect(seen.toSorted((one, other) => one - other)).toEqual(
      Array.from({ length: 100 }, (_, at) => at + 1),
    )
    const { Item } = await replicas[0].act(table, 'GetItem', { Key: { id: 'counter' } })
    expect(Item).toEqual({ id: 'counter', hits: 100 })
  })

  test.each([
    ['asks for no item', 'attribute_not_exists(id)'],
    ['has to be evaluated', 'attribute_not_exists(id) AND attribute_not_exists(winner)'],
  ])('one of 50 puts wins whose condition %s, again and again', async (_name, condition) => {
    const table = await replicas[0].create('one', SCHEMA)
    for (const id of ['first', 'second', 'third', 'fourth']) {
      const outcomes = await times(50, (at) =>
        replica(at)
          .act(table, 'PutItem', {
            Item: { id, winner: at, color: `c${at}` },
            ConditionExpression: condition,
          })
          .then(
            () => at,
            (error: unknown) => error,
          ),
      )
      const winners = outcomes.filter((outcome) => typeof outcome === 'number')
      expect(winners).toHaveLength(1)
      for (const outcome of outcomes) {
        if (typeof outcome !== 'number') {
          // oxlint-disable-next-line vitest/no-conditional-expect -- the losers among them
          expect(outcome).toMatchObject({ code: 'ConditionalCheckFailed' })
        }
      }
      const { Item } = await replicas[0].act(table, 'GetItem', { Key: { id } })
      expect(Item).toMatchObject({ winner: winners[0] })
    }
    const { items, indexed } = await colors(table)
    expect(indexed).toEqual(items)
  })

  test('puts, updates and deletes of few items leave indexes that say what the items say', async () => {
    const table = await replicas[0].create('one', SCHEMA)
    await times(240, async (at) => {
      const id = `i${at % 5}`
      const bench = replica(at)
      if (at % 4 === 0) await bench.act(table, 'DeleteItem', { Key: { id } })
      else if (at % 4 === 1) {
        await bench.act(table, 'PutItem', { Item: { id, color: `c${at % 3}`, at } })
      } else if (at % 4 === 2) {
        await bench.act(table, 'PutItem', { Item: { id, at }, ReturnValues: 'ALL_OLD' })
      } else {
        await bench.act(table, 'UpdateItem', {
          Key: { id },
          UpdateExpression: 'SET color = :c',
          ExpressionAttributeValues: { ':c': `c${at % 7}` },
        })
      }
    })
    const { items, indexed } = await colors(table)
    expect(indexed).toEqual(items)
  })
})

describe('a definition that changes while items are written', () => {
  test('loses no item from its new index, on a replica without its notification either', async () => {
    const [first] = replicas
    const before = await first.create('one', { partitionKey: SCHEMA.partitionKey })
    const table = { ...before, schema: SCHEMA }
    const put = (at: number) =>
      // Half of the writers have the old schema.
      replica(at).act(at % 2 === 0 ? before : table, 'PutItem', {
        Item: { id: `p${at % 150}`, color: `c${at % 4}`, at },
      })
    await times(100, put)
    await Promise.all([
      times(300, put),
      first.change(before, SCHEMA).then(() => build(first, table)),
    ])
    await build(first, table)
    const { items, indexed } = await colors(table)
    expect(items).toHaveLength(150)
    expect(indexed).toEqual(items)
  })
})

const build = (bench: EngineBench, { siteId, tableId }: Table) =>
  bench.builds.run({ siteId, resourceId: tableId }, new AbortController().signal)
