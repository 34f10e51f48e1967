import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { PostgresPlatform } from '#platform/postgres/postgres.ts'
import type { Table } from '#runtime/tables/table.ts'
import { forgeFunction } from '#test/forged-function.ts'
import { type TestDatabase, openDatabase } from '#test/postgres.ts'

import { type EngineBench, insertSite, openEngine } from './table-engine.ts'

let postgres: PostgresPlatform & TestDatabase
let bench: EngineBench
let mine: Table
let theirs: Table

const SCHEMA = {
  partitionKey: { name: 'id', type: 'S' as const },
  globalSecondaryIndexes: [{ name: 'by-tag', partitionKey: { name: 'tag', type: 'S' as const } }],
}

beforeAll(async () => {
  postgres = await openDatabase()
  bench = await openEngine(postgres)
  for (const siteId of ['one', 'two']) await insertSite(postgres, siteId)
  mine = await bench.create('one', SCHEMA)
  // The same id, which no two sites are given: the worst that could happen.
  theirs = { ...mine, siteId: 'two' }
  await postgres.database.withSite('two', (tx) =>
    bench.layouts.define(tx, theirs.tableId, theirs.schema),
  )
  await bench.act(mine, 'PutItem', { Item: { id: 'a', tag: 't', of: 'one' } })
  await bench.act(theirs, 'PutItem', { Item: { id: 'a', tag: 't', of: 'two' } })
  await bench.act(theirs, 'PutItem', { Item: { id: 'b', tag: 't', of: 'two' } })
})
afterAll(async () => {
  await bench.queue[Symbol.asyncDispose]()
  await postgres[Symbol.asyncDispose]()
})

describe('two sites with the same table', () => {
  test.each([
    ['Scan', {}],
    ['Scan', { IndexName: 'by-tag' }],
    ['Query', { KeyConditionExpression: 'id = :v', ExpressionAttributeValues: { ':v': 'a' } }],
    [
      'Query',
      {
        IndexName: 'by-tag',
        KeyConditionExpression: 'tag = :v',
        ExpressionAttributeValues: { ':v': 't' },
      },
    ],
  ] as const)('see their own items alone: %s %j', async (action, body) => {
    expect((await bench.act(mine, action, body))['Items']).toEqual([
      { id: 'a', tag: 't', of: 'one' },
    ])
  })

  test('delete their own items alone', async () => {
    await bench.act(mine, 'DeleteItem', { Key: { id: 'b' } })
    expect((await bench.act(theirs, 'GetItem', { Key: { id: 'b' } }))['Item']).toBeDefined()
  })
})

describe('row-level security', () => {
  const forged = (name: string) => forgeFunction(name, postgres.url)

  test('shows nothing of another site, though a function asks for it', async () => {
    await forged('table_item_range')
    const rows = (siteId: string) =>
      postgres.database.statement(
        "select bodies from forged_table_item_range($1, $2, '', '', '\\xff', '', true, 100, 0)",
        [siteId, mine.tableId],
      )
    expect(await rows('one')).toEqual([{ bodies: expect.stringContaining('"id"') }])
    expect(await rows('two')).toEqual([{ bodies: null }])
  })

  test('lets no function write rows of another site', async () => {
    await forged('table_item_write')
    const write = (siteId: string) =>
      postgres.database.statement(
        `select outcome from forged_table_item_write(
           $1, $2, '\\x01', '', 0, null, 'any', null, false, '{}', 2, null, null, null, null)`,
        [siteId, 'no-such-table'],
      )
    expect(await write('one')).toEqual([{ outcome: 'done' }])
    await expect(write('two')).rejects.toMatchObject({ code: '42501' })
  })

  test.each([
    ['a put', 'table_item_put', `'\\x02', '', 1, '{}', 2, null`],
    [
      'puts',
      'table_items_put',
      `array['\\x02', '\\x03']::bytea[], array['', '']::bytea[], 1, array['{}', '{}'], array[2, 2], array[null, null]::bigint[]`,
    ],
  ])('lets %s write no row of another site', async (_what, name, values) => {
    await forged(name)
    const put = (siteId: string) =>
      postgres.database.statement<{ written: boolean }>(
        `select forged_${name}($1, $2, ${values}) as written`,
        [siteId, mine.tableId],
      )
    expect(await put('one')).toEqual([{ written: true }])
    // The layout of the other site is not to be seen either.
    expect(await put('two')).toEqual([{ written: false }])
  })

  test('is back to no site after a function has run', async () => {
    for (let round = 0; round < 8; round++) {
      await bench.act(mine, 'GetItem', { Key: { id: 'a' } })
      expect(await postgres.database.statement('select 1 from table_item', [])).toEqual([])
    }
  })
})
