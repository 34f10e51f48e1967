import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { PostgresPlatform } from '#platform/postgres/postgres.ts'
import { type TestDatabase, openDatabase } from '#test/postgres.ts'

import { REFERENCE_TABLES } from './reference-tables.ts'

/**
 * What Citus asks of tables that are distributed by `site_id`: docs.citusdata.com, "Creating and Modifying Distributed Objects".
 * What is looked for before a site is known has keys across all sites, their names: it is in reference tables, as what is of no site.
 */

let postgres: PostgresPlatform & TestDatabase
beforeAll(async () => {
  postgres = await openDatabase()
})
afterAll(() => postgres[Symbol.asyncDispose]())

const column = (name: string) => postgres.sql`
  select c.oid, c.relname, a.attnum, a.attnotnull, a.atttypid, a.attcollation
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = ${name} and not a.attisdropped
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and c.relname not in ${postgres.sql(REFERENCE_TABLES)}`

describe('what Citus can distribute by site', () => {
  test('is every table of sites: none of their rows is without one', async () => {
    const rows = await postgres.sql`
      with distributed as (${column('site_id')})
      select count(*)::int as tables, count(*) filter (where not attnotnull)::int as nullable,
             count(distinct atttypid)::int as types from distributed`
    expect(rows[0]).toMatchObject({ nullable: 0, types: 1 })
    expect(rows[0]?.['tables']).toBeGreaterThan(50)
  })

  test('has the site in every key that is unique', async () => {
    const across = await postgres.sql`
      with distributed as (${column('site_id')})
      select i.indexrelid::regclass::text as index from pg_index i join distributed d on d.oid = i.indrelid
      where i.indisunique and d.attnum <> all ((i.indkey::int2[])[0:i.indnkeyatts - 1])`
    expect(across).toEqual([])
  })

  test('refers to rows of the same site, and to tables that are everywhere', async () => {
    const references = await postgres.sql`
      with distributed as (${column('site_id')})
      select k.conname as name,
             from_.oid is not null as "isOfSite", to_.oid is not null as "isToSite",
             array_position(k.conkey, from_.attnum) as "from", array_position(k.confkey, to_.attnum) as "to",
             from_.attcollation is not distinct from to_.attcollation as "isColocated",
             k.confdeltype in ('n', 'd') or k.confupdtype <> 'a' as "changesRows", k.condeferrable as "isLate"
      from pg_constraint k
      left join distributed from_ on from_.oid = k.conrelid
      left join distributed to_ on to_.oid = k.confrelid
      where k.contype = 'f' and k.connamespace = 'public'::regnamespace`
    expect(references.length).toBeGreaterThan(50)
    const broken = references.filter((reference) => {
      if (!reference['isToSite']) return false
      const { isOfSite, from, to, isColocated, changesRows, isLate } = reference
      return !isOfSite || from === null || from !== to || !isColocated || changesRows || isLate
    })
    expect(broken.map(({ name }) => String(name))).toEqual([])
  })

  test('lives in two groups: items of tables and their indexes, compared by bytes, and all else', async () => {
    const groups = await postgres.sql`
      with distributed as (${column('site_id')})
      select attcollation::regcollation::text as collation, min(relname) as first, count(*)::int as tables
      from distributed group by 1 order by 3`
    expect(groups.map(({ collation }) => collation)).toEqual(['"C"', '"default"'])
    expect(groups[0]).toMatchObject({ tables: 2, first: 'table_index_entry' })
  })

  test('has nothing else that Citus refuses', async () => {
    const refused = await postgres.sql`
      with distributed as (${column('site_id')})
      select 'trigger ' || tgname as what from pg_trigger join distributed d on d.oid = tgrelid where not tgisinternal
      union all select 'rule ' || rulename from pg_rewrite join distributed d on d.oid = ev_class
      union all select 'exclusion ' || conname from pg_constraint join distributed d on d.oid = conrelid where contype = 'x'
      union all select 'parent ' || inhparent::regclass from pg_inherits join distributed d on d.oid = inhrelid
      union all select 'identity ' || d.relname || '.' || attname from pg_attribute a join distributed d on d.oid = a.attrelid
        where attidentity <> '' and a.atttypid <> 'bigint'::regtype`
    expect(refused).toEqual([])
  })
})
