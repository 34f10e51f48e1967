import { sql } from 'kysely'
import sqlClient from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'

import type { PostgresPlatform } from '#platform/postgres/postgres.ts'
import { APP_ROLE } from '#platform/postgres/role.ts'
import { type TestDatabase, openDatabase } from '#test/postgres.ts'

import { insertSite } from './table-engine.ts'

let postgres: PostgresPlatform & TestDatabase
let session: sqlClient.Sql
let plans: string[] = []

/** Sites of very different sizes, and one session of the app role that tells the plan of every statement in functions. */
beforeAll(async () => {
  postgres = await openDatabase()
  for (const [siteId, items] of [
    ['small', 30],
    ['large', 30_000],
  ] as const) {
    await insertSite(postgres, siteId)
    await postgres.database.withSite(siteId, ({ db }) =>
      sql`insert into table_item (site_id, table_id, partition_hash, sort_key, size_bytes, body)
          select ${siteId}, 'res_' || (n % 3), substring(sha256(int4send(n)) for 20), int4send(n), 50, '{}'
          from generate_series(1, ${items}::int) n`.execute(db),
    )
  }
  session = sqlClient(postgres.url, {
    max: 1,
    onnotice: ({ message = '' }) => plans.push(message),
  })
  await session.unsafe(`analyze table_item; load 'auto_explain'; set auto_explain.log_min_duration = 0;
    set auto_explain.log_nested_statements = on; set client_min_messages = log; set role ${APP_ROLE}`)
})
afterAll(async () => {
  await session.end()
  await postgres[Symbol.asyncDispose]()
})

const step = async (siteId: string, most: number): Promise<boolean> => {
  const rows = await session<{ done: boolean }[]>`
    select table_count_step(${siteId}, ${most}::int) as done`
  return rows[0]?.done ?? false
}

const usage = (siteId: string) =>
  postgres.database.withSite(siteId, async ({ db }) => {
    const { rows } = await sql`
      select used_bytes::int as bytes, used_items::int as items, counted_alone as alone
      from table_usage where site_id = ${siteId}`.execute(db)
    return rows[0]
  })

test('each step of a count goes on in the index where the last one stopped', async () => {
  await session`select table_count_begin('large')`
  for (let round = 0; round < 10; round++) await step('large', 1000)
  plans = []
  expect(await step('large', 1000)).toBe(false)
  const plan = plans.find((each) => each.includes('with page as')) ?? ''
  expect(plan).toMatch(
    /Index Cond: \(\(site_id = .+\) AND \(ROW\(table_id, partition_hash, sort_key\) > ROW\(/,
  )
  expect(plan).not.toMatch(/Seq Scan on table_|Bitmap/)
})

test('a concurrent count counts nothing twice, and only its own site', async () => {
  for (const siteId of ['small', 'large']) {
    await session`select table_count_begin(${siteId})`
    const counter = async () => {
      while (
        (
          await postgres.database.statement<{ done: boolean }>(
            'select table_count_step($1, $2) as done',
            [siteId, 500],
          )
        )[0]?.done !== true
      );
    }
    await Promise.all([counter(), counter(), counter()])
  }
  expect(await usage('small')).toEqual({ bytes: 30 * 150, items: 30, alone: true })
  expect(await usage('large')).toEqual({ bytes: 30_000 * 150, items: 30_000, alone: true })
})

test('what is written during a count is counted once at least, and the count knows', async () => {
  await session`select table_count_begin('large')`
  await step('large', 1000)
  const insert = (table: string, bytes: number) =>
    postgres.database.withSite('large', ({ db }) =>
      sql`insert into table_item (site_id, table_id, partition_hash, sort_key, size_bytes, body)
          values ('large', ${table}, ''::bytea, ''::bytea, ${bytes}::int, '{}')`.execute(db),
    )
  await insert('res_0', 400)
  await insert('res_2', 500)
  // Their writer has reported both.
  await session`
    select table_room_exchange('large', 'writer', 0, true, '{1100,2}'::bigint[], '{0,0}'::bigint[],
      '{0,0}'::bigint[], '{0,0}'::bigint[], '{0,0}'::bigint[], '{10000000000,10000000}'::bigint[])`
  while (!(await step('large', 5000)));
  expect(await usage('large')).toEqual({
    // The first one came behind the count, the second one before it.
    bytes: 30_000 * 150 + 500 + 2 * 600,
    items: 30_003,
    alone: false,
  })
})

test('what was removed before a count ended is not subtracted after it', async () => {
  const lose = (epoch: number) =>
    session`
      select epoch from table_room_exchange('small', 'writer', ${epoch}::int, true, '{0,0}'::bigint[],
        '{150,1}'::bigint[], '{0,0}'::bigint[], '{0,0}'::bigint[], '{0,0}'::bigint[], '{10000,100}'::bigint[])`
  const [known] = await lose(0)
  expect(await usage('small')).toMatchObject({ bytes: 30 * 150, items: 30 })
  await lose(known?.['epoch'])
  expect(await usage('small')).toMatchObject({ bytes: 29 * 150, items: 29 })
  await session`select table_count_begin('small')`
  await lose(known?.['epoch'])
  expect(await usage('small')).toMatchObject({ bytes: 29 * 150, items: 29 })
})
