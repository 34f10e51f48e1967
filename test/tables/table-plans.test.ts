import { sql } from 'kysely'
import sqlClient from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { PostgresPlatform } from '#platform/postgres/postgres.ts'
import { APP_ROLE } from '#platform/postgres/role.ts'
import { partitionHash } from '#runtime/tables/store/item-key.ts'
import { type TestDatabase, openDatabase } from '#test/postgres.ts'

import { type EngineBench, insertSite, openEngine } from './table-engine.ts'

/** Items of the partition `room`, one for each sort key; and of other partitions, one each. */
const ITEMS = 20_000

let postgres: PostgresPlatform & TestDatabase
let bench: EngineBench
let session: sqlClient.Sql
let tableId: string
let plans: string[] = []

const SCHEMA = {
  partitionKey: { name: 'id', type: 'S' as const },
  sortKey: { name: 'sort', type: 'B' as const },
  globalSecondaryIndexes: [{ name: 'by-tag', partitionKey: { name: 'tag', type: 'S' as const } }],
}

/** One session of the app role that tells the plan of every statement, also inside functions. */
beforeAll(async () => {
  postgres = await openDatabase()
  bench = await openEngine(postgres)
  await insertSite(postgres, 'one')
  tableId = (await bench.create('one', SCHEMA)).tableId
  session = sqlClient(postgres.url, {
    max: 1,
    onnotice: ({ message = '' }) => plans.push(message),
  })
  await session.unsafe(`load 'auto_explain'; set auto_explain.log_min_duration = 0;
    set auto_explain.log_nested_statements = on; set client_min_messages = log; set role ${APP_ROLE}`)
})
afterAll(async () => {
  await session.end()
  await bench.queue[Symbol.asyncDispose]()
  await postgres[Symbol.asyncDispose]()
})

const room = partitionHash({ S: 'room' })
const afterRoom = Buffer.concat([room, Buffer.from([0])])
const nothing = Buffer.alloc(0)
const sort = Buffer.from('00000500', 'hex')

const CALLS: readonly (readonly [string, string, () => readonly unknown[]])[] = [
  ['get', 'select table_item_get($1, $2, $3, $4, 0)', () => [room, sort]],
  [
    'put',
    `select table_item_write($1, $2, $3, $4, 0, 1, 'any', null, false, '{}', 2, null, '{}', '{}', '{}')`,
    () => [room, sort],
  ],
  [
    'put without indexes',
    `select table_item_put($1, $2, $3, $4, 1, '{}', 2, null)`,
    () => [room, sort],
  ],
  [
    'puts without indexes',
    `select table_items_put($1, $2, array[$3, $3]::bytea[], array[$4, '']::bytea[], 1, array['{}', '{}'], array[2, 2], array[null, null]::bigint[])`,
    () => [room, sort],
  ],
  [
    'gets',
    `select * from table_items_get($1, array[$2, $2], array[$3, $3]::bytea[], array[$4, '']::bytea[], 0)`,
    () => [room, sort],
  ],
  [
    'conditional put',
    `select table_item_write($1, $2, $3, $4, 0, 1, 'absent', null, false, '{}', 2, null, '{}', '{}', '{}')`,
    () => [room, sort],
  ],
  [
    'delete',
    `select table_item_write($1, $2, $3, $4, 0, 1, 'any', null, false, null, null, null, '{}', '{}', '{}')`,
    () => [room, Buffer.from('00000501', 'hex')],
  ],
  [
    'query',
    'select * from table_item_range($1, $2, $3, $4, $5, $6, true, 20, 0)',
    () => [room, sort, afterRoom, nothing],
  ],
  [
    'query backwards',
    'select * from table_item_range($1, $2, $3, $4, $5, $6, false, 20, 0)',
    () => [room, nothing, room, sort],
  ],
  [
    'segment scan',
    'select * from table_item_range($1, $2, $3, $4, $5, $6, true, 20, 0)',
    () => [Buffer.from('40', 'hex'), nothing, Buffer.from('41', 'hex'), nothing],
  ],
  [
    'index query',
    `select * from table_index_range($1, $2, 'by-tag', array[$3, $4, '', '']::bytea[], array[$5, $6, '', '']::bytea[], true, 20, 0)`,
    () => [room, nothing, afterRoom, nothing],
  ],
  [
    'index query backwards',
    `select * from table_index_range($1, $2, 'by-tag', array[$3, $4, '', '']::bytea[], array[$5, $6, '', '']::bytea[], false, 20, 0)`,
    () => [room, nothing, afterRoom, nothing],
  ],
]

async function plansOf(text: string, parameters: readonly unknown[]): Promise<string> {
  plans = []
  await session.unsafe(text, ['one', tableId, ...parameters] as never[], { prepare: true })
  return plans
    .filter((plan) => plan.includes('table_item') || plan.includes('table_index'))
    .join('\n')
}

describe.each([
  ['that were made for an empty table', async () => {}],
  ['that were made for an empty table and meet many items', fill],
  ['after Postgres has counted many items', analyze],
])('plans %s', (_name, prepare) => {
  beforeAll(async () => {
    await prepare()
    // Often enough for the session to keep them.
    for (const [, text, parameters] of CALLS) {
      for (let round = 0; round < 7; round++) await plansOf(text, parameters())
    }
  })

  test.each(CALLS)('of a %s are index scans in order', async (_call, text, parameters) => {
    const found = await plansOf(text, parameters())
    expect(found).toContain('Index')
    expect(found).not.toMatch(/Seq Scan on table_|Bitmap|Sort Key|Hash Join|Merge Join/)
  })
})

async function fill(): Promise<void> {
  await postgres.database.withSite('one', async ({ db }) => {
    await sql`
      insert into table_item (site_id, table_id, partition_hash, sort_key, size_bytes, body, index_ids, index_hashes, index_sorts)
      select 'one', ${tableId}, case when n % 2 = 0 then ${room}::bytea else substring(sha256(int4send(n)) for 20) end,
             int4send(n), 200, '{"id":"x"}', array[1], array[${room}::bytea], array[''::bytea]
      from generate_series(1, ${2 * ITEMS}::int) n
      on conflict do nothing`.execute(db)
    await sql`
      insert into table_index_entry (site_id, table_id, index_id, partition_hash, sort_key, item_hash, item_sort)
      select site_id, table_id, 1, ${room}::bytea, '', partition_hash, sort_key from table_item
      where site_id = 'one' and table_id = ${tableId}
      on conflict do nothing`.execute(db)
  })
}

async function analyze(): Promise<void> {
  const owner = sqlClient(postgres.url, { max: 1 })
  await owner.unsafe('analyze table_item; analyze table_index_entry')
  await owner.end()
}
