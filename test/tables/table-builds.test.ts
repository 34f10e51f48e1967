import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import type { PostgresPlatform } from '#platform/postgres/postgres.ts'
import type { Table } from '#runtime/tables/table.ts'
import { type TestDatabase, asAdmin, openDatabase } from '#test/postgres.ts'

import { type EngineBench, insertSite, openEngine } from './table-engine.ts'

let postgres: PostgresPlatform & TestDatabase
let bench: EngineBench
let now = new Date('2030-01-01T00:00:00Z')
const seconds = () => Math.floor(now.getTime() / 1000)

const PLAIN_TABLE = { partitionKey: { name: 'id', type: 'S' as const } }
const INDEXED = {
  ...PLAIN_TABLE,
  globalSecondaryIndexes: [
    {
      name: 'by-tag',
      partitionKey: { name: 'tag', type: 'S' as const },
      sortKey: { name: 'rank', type: 'N' as const },
    },
  ],
}
const ITEMS = 1600

beforeAll(async () => {
  postgres = await openDatabase({ poolSize: 6 })
  bench = await openEngine(postgres, { now: () => now })
  await insertSite(postgres, 'one')
})
afterAll(async () => {
  await bench.queue[Symbol.asyncDispose]()
  await postgres[Symbol.asyncDispose]()
})

const put = (table: Table, item: unknown) => bench.act(table, 'PutItem', { Item: item })
const run = ({ siteId, tableId }: Table, signal = new AbortController().signal) =>
  bench.builds.run({ siteId, resourceId: tableId }, signal)
const tagged = async (table: Table, rest: object = {}) =>
  (await bench.act(table, 'Query', {
    IndexName: 'by-tag',
    KeyConditionExpression: 'tag = :t',
    ExpressionAttributeValues: { ':t': 'even' },
    ...rest,
  })) as { Items: Record<string, unknown>[]; Count: number }

async function fill(table: Table, count: number): Promise<void> {
  for (let from = 0; from < count; from += 100) {
    await Promise.all(
      Array.from({ length: Math.min(100, count - from) }, (_, at) => {
        const rank = from + at
        return put(table, { id: `i${rank}`, rank, tag: rank % 2 === 0 ? 'even' : 'odd' })
      }),
    )
  }
}

const inSite = <Row>(text: ReturnType<typeof sql<Row>>) =>
  postgres.database.withSite('one', async ({ db }) => (await text.execute(db)).rows)
const progress = async ({ tableId }: Table) => {
  const [row] = await inSite(
    sql<{ built_hash: Buffer | null }>`
      select built_hash from table_layout where table_id = ${tableId}`,
  )
  return row?.built_hash ?? null
}
const countRows = async (name: 'table_item' | 'table_index_entry', { tableId }: Table) => {
  const [row] = await inSite(
    sql<{ count: number }>`
      select count(*)::int as count from ${sql.table(name)} where table_id = ${tableId}`,
  )
  return row?.count
}
const waitingJobs = async ({ tableId }: Table) => {
  const rows = await postgres.sql<{ singleton_key: string }[]>`
    select singleton_key from pgboss.job
    where name = 'table-build' and state = 'created' and data ->> 'resourceId' = ${tableId}`
  return rows.map((row) => row.singleton_key.split(':')[0])
}

describe('an index that is added to a table with items', () => {
  let table: Table
  beforeAll(async () => {
    const before = await bench.create('one', PLAIN_TABLE)
    await fill(before, ITEMS)
    await put(before, { id: 'no tag', rank: 1 })
    await put(before, { id: 'wrong rank', tag: 'even', rank: 'high' })
    table = await bench.change(before, INDEXED)
  })

  test('cannot be read until it is built, and its build waits in the queue', async () => {
    expect(await waitingJobs(table)).toEqual(['build'])
    await expect(tagged(table)).rejects.toMatchObject({
      code: 'ValidationError',
      message: 'Cannot read from backfilling global secondary index: by-tag',
    })
  })

  test('goes on where it was when its builder is killed, while others write', async () => {
    const killed = run(table).then(
      () => 'finished',
      () => 'killed',
    )
    // In the middle of it every connection dies, as with a kill -9.
    await vi.waitUntil(async () => ((await progress(table))?.length ?? 0) > 0, {
      timeout: 30_000,
      interval: 1,
    })
    await asAdmin(
      (admin) => admin`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = ${postgres.name} and pid <> pg_backend_pid()`,
    )
    expect(await killed).toBe('killed')
    const reached = await progress(table)
    expect(reached?.length).toBe(20)
    await Promise.all([
      run(table),
      run(table),
      put(table, { id: 'late', tag: 'even', rank: -1 }),
      bench.act(table, 'DeleteItem', { Key: { id: 'i0' } }),
      bench.act(table, 'UpdateItem', {
        Key: { id: 'i2' },
        UpdateExpression: 'SET tag = :odd',
        ExpressionAttributeValues: { ':odd': 'odd' },
      }),
    ])
    expect(await progress(table)).toBeNull()
    const { Items } = await tagged(table)
    expect(Items.map(({ rank }) => rank)).toEqual([
      -1,
      ...Array.from({ length: ITEMS / 2 - 2 }, (_, at) => 4 + 2 * at),
    ])
    expect(await countRows('table_index_entry', table)).toBe(ITEMS)
  })

  test('loses its entries when it is removed, and is built again under its old name', async () => {
    const without = await bench.change(table, PLAIN_TABLE)
    await expect(tagged(table)).rejects.toMatchObject({
      message: 'The table does not have the specified index: by-tag',
    })
    await expect(tagged(without)).rejects.toMatchObject({ code: 'ValidationError' })
    const again = await bench.change(table, INDEXED)
    await run(again)
    expect((await tagged(again, { Limit: 3 })).Items.map(({ rank }) => rank)).toEqual([-1, 4, 6])
    expect(await countRows('table_index_entry', table)).toBe(ITEMS)
    await run(await bench.change(table, PLAIN_TABLE))
    expect(await countRows('table_index_entry', table)).toBe(0)
  })

  test('and the table leave nothing when the table is dropped', async () => {
    await bench.builds.dropItems(table, new AbortController().signal)
    expect(await countRows('table_item', table)).toBe(0)
    await expect(put(table, { id: 'after' })).rejects.toMatchObject({ code: 'ResourceNotFound' })
  })
})

describe('items that end', () => {
  let table: Table
  beforeAll(async () => {
    table = await bench.create('one', { ...INDEXED, ttlAttribute: 'until' })
    await put(table, { id: 'ended', tag: 'even', rank: 1, until: seconds() - 1 })
    await put(table, { id: 'ends', tag: 'even', rank: 2, until: seconds() + 60 })
    await put(table, { id: 'text', tag: 'even', rank: 3, until: 'soon' })
    await put(table, { id: 'long ago', tag: 'even', rank: 4, until: seconds() - 6 * 365 * 86_400 })
    await put(table, { id: 'never', tag: 'even', rank: 5 })
  })
  const left = async () => ({
    query: (await tagged(table)).Items.map(({ id }) => id),
    scan: ((await bench.act(table, 'Scan', {}))['Count'] as number) + 0,
  })

  test('are hidden from every read at once', async () => {
    expect(await left()).toEqual({ query: ['ends', 'text', 'long ago', 'never'], scan: 4 })
    expect(await bench.act(table, 'GetItem', { Key: { id: 'ended' } })).toEqual({})
    now = new Date(now.getTime() + 61_000)
    expect(await left()).toEqual({ query: ['text', 'long ago', 'never'], scan: 3 })
  })

  test('are no items to conditions and updates', async () => {
    const update = bench.act(table, 'UpdateItem', {
      Key: { id: 'ends' },
      UpdateExpression: 'SET #n = :n',
      ConditionExpression: 'attribute_exists(id)',
      ExpressionAttributeNames: { '#n': 'n' },
      ExpressionAttributeValues: { ':n': 1 },
    })
    await expect(update).rejects.toMatchObject({ code: 'ConditionalCheckFailed' })
    await bench.act(table, 'PutItem', {
      Item: { id: 'ends', fresh: true },
      ConditionExpression: 'attribute_not_exists(id)',
    })
    const changed = await bench.act(table, 'UpdateItem', {
      Key: { id: 'ended' },
      UpdateExpression: 'SET fresh = :t',
      ExpressionAttributeValues: { ':t': true },
      ReturnValues: 'ALL_NEW',
    })
    expect(changed).toEqual({ Attributes: { id: 'ended', fresh: true } })
  })

  test('are removed later with their entries, again and again', async () => {
    await put(table, { id: 'brief', tag: 'even', rank: 9, until: seconds() + 1 })
    now = new Date(now.getTime() + 2_000)
    const before = await countRows('table_item', table)
    await run(table)
    expect(await countRows('table_item', table)).toBe(Number(before) - 1)
    expect(await countRows('table_index_entry', table)).toBe(3)
    expect(await waitingJobs(table)).toContain('sweep')
  })

  test('end by another attribute when the definition names another', async () => {
    await put(table, { id: 'two', tag: 'even', rank: 1, until: seconds() - 1, gone: seconds() + 9 })
    await put(table, { id: 'three', tag: 'even', rank: 2, gone: seconds() - 1 })
    table = await bench.change(table, { ...INDEXED, ttlAttribute: 'gone' })
    await run(table)
    expect((await left()).query).toEqual(['two', 'text', 'long ago', 'never'])
    expect(await countRows('table_item', table)).toBe(6)
  })
})

describe('a site that is gone', () => {
  test('leaves no row of its tables, and another site all of its own', async () => {
    const kept = await bench.create('one', INDEXED)
    await put(kept, { id: 'kept', tag: 'even', rank: 1 })
    await insertSite(postgres, 'two')
    const gone = await bench.create('two', INDEXED)
    for (const id of ['a', 'b', 'c']) await put(gone, { id, tag: 'even', rank: 1 })
    await postgres.database.withSite('two', ({ db }) =>
      db.deleteFrom('site').where('site_id', '=', 'two').execute(),
    )
    await bench.builds.removeSite('two', new AbortController().signal)
    const left = await postgres.database.withSite('two', async ({ db }) => [
      await db.selectFrom('table_item').select('site_id').execute(),
      await db.selectFrom('table_index_entry').select('site_id').execute(),
    ])
    expect(left).toEqual([[], []])
    expect((await tagged(kept)).Count).toBe(1)
    await expect(put(gone, { id: 'late' })).rejects.toMatchObject({ code: 'ResourceNotFound' })
  })
})
