import type { SqlClient } from '#platform/postgres/client.ts'

import {
  type Contender,
  ITEMS,
  PAGE_ITEMS,
  PARTITION_ITEMS,
  itemOf,
  keyOf,
  startOf,
} from './contender.ts'

/** What a developer writes by hand: one table of JSON, one prepared statement through postgres.js for each call. */
export async function bareSql(sql: SqlClient): Promise<Contender> {
  await sql`create table bare_item (id text primary key, item jsonb not null)`
  await sql`create table bare_event (
    feed text collate "C" not null, pos text collate "C" not null, item jsonb not null, primary key (feed, pos))`
  for (let index = 0; index < ITEMS; index += 1000) {
    const rows = Array.from({ length: 1000 }, (_, at) => itemOf(index + at))
    await sql`insert into bare_item select each ->> 'id', each
      from jsonb_array_elements(${JSON.stringify(rows)}::jsonb) as each`
  }
  await sql`insert into bare_event select 'all', lpad(at::text, 7, '0'), jsonb_build_object(
    'feed', 'all', 'pos', lpad(at::text, 7, '0'), 'kind', 'visit', 'path', '/page/' || at, 'ms', at % 500)
    from generate_series(0, ${PARTITION_ITEMS - 1}::int) as at`
  await sql`vacuum analyze bare_item, bare_event`
  return {
    name: 'bare SQL',
    async get(index) {
      const rows = await sql`select item from bare_item where id = ${keyOf(index).id}`
      if (rows[0]?.['item']?.id !== keyOf(index).id) throw new Error('bare SQL found no item')
    },
    async put(index) {
      const item = itemOf(index)
      await sql`insert into bare_item (id, item) values (${item.id}, ${JSON.stringify(item)}::jsonb)
        on conflict (id) do update set item = excluded.item`
    },
    async query(index) {
      const rows = await sql`select item from bare_event
        where feed = 'all' and pos >= ${startOf(index)} order by pos limit ${PAGE_ITEMS}`
      if (rows.length !== PAGE_ITEMS) throw new Error(`bare SQL found ${rows.length} items`)
    },
  }
}
