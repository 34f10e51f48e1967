import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { migrateDatabase } from '#platform/migrate-database.ts'
import { createClient } from '#platform/postgres/client.ts'
import { startEmbeddedPostgres } from '#platform/postgres/embedded/embedded-postgres.ts'
import { DeployDesk } from '#test/deploy-desk.ts'
import { furnish, routesOf } from '#test/furnished-site.ts'
import { answersOf } from '#test/get-routes.ts'
import { makeMailboxes } from '#test/inbound-mail.ts'
import { storeMail } from '#test/mail-rows.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { silentLog } from '#test/silent-log.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { openFolder } from '#test/temporary-folder.ts'
import { signInWithPassword, signUp } from '#test/visitors.ts'

import { REFERENCE_TABLES } from './reference-tables.ts'
import { type StatementWay, wayOf } from './statement.ts'

const HOST = 'one.test'
const SETTINGS = {
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.max': '10000',
  'pg_stat_statements.track': 'all',
  fsync: 'off',
}

const cleanUp = new AsyncDisposableStack()
let ways: (StatementWay & { readonly sql: string })[]
beforeAll(async () => {
  const folder = await openFolder(cleanUp, 'croft-citus-')
  const server = cleanUp.use(
    await startEmbeddedPostgres({
      dataDir: join(folder, 'data'),
      log: silentLog,
      settings: SETTINGS,
    }),
  )
  await migrateDatabase({ url: server.url, log: silentLog })
  const admin = createClient({ url: server.url, max: 1 })
  cleanUp.defer(() => admin.end({ timeout: 5 }))
  await admin`create extension pg_stat_statements`
  // Migrations run before tables are distributed.
  await admin`select pg_stat_statements_reset()`
  await work(server.url)
  const tables = await admin<{ name: string }[]>`
    select relname as name from pg_class join pg_attribute on attrelid = pg_class.oid and attname = 'site_id'
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and relname not in ${admin(REFERENCE_TABLES)}`
  const distributed = new Set(tables.map(({ name }) => name))
  const seen = await admin<{ sql: string }[]>`
    select distinct query as sql from pg_stat_statements where toplevel
      and query ~* '^\s*(select|insert|update|delete|with|merge)'`
  ways = []
  for (const { sql } of seen) {
    const way = await wayOf(sql, distributed)
    if (way !== undefined) ways.push({ ...way, sql })
  }
})
afterAll(() => cleanUp.disposeAsync())

/** Much of what a site can do, and its end. */
async function work(databaseUrl: string): Promise<void> {
  await using stack: Stack = await startStack({ databaseUrl, config: { roles: ['api', 'worker'] } })
  const one = await RuntimeSite.open(stack, HOST)
  const ids = await furnish(stack, one)
  await new DeployDesk(stack).deploy(HOST, {
    'public/index.html': '<h1>Shop</h1>',
    'greet.ts': 'export default () => "hello"',
  })
  await makeMailboxes(stack, HOST, ['hello'])
  await storeMail(stack, { mailbox: `hello@${HOST}`, subject: 'A question', text: 'Where?' })
  await signUp(stack, HOST, 'vera@visitors.test')
  await signInWithPassword(stack, HOST, { email: 'vera@visitors.test' })
  await answersOf(stack, HOST, { ...ids, resourceId: [ids.table, ids.bucket, ids.fn] })
  for (const [method, path, body] of routesOf(ids)) await one.admin(method, path, body)
  await stack.portal('DELETE', `/sites/${HOST}`)
}

const wordsOf = ({ kind, tables }: StatementWay): string =>
  `${kind.replace('Stmt', '')} ${tables.join(' ')}`

describe('the statements of a site and of its workers, on a database that is distributed by site', () => {
  test('are of one site, except for the search for due jobs, on every node and without locks', () => {
    expect(ways.length).toBeGreaterThan(150)
    const others = ways.filter(({ isOfOneSite }) => !isOfOneSite)
    expect([...new Set(others.map(wordsOf))]).toEqual(['Select data_job_due'])
    expect(others.filter(({ isBySite, locks }) => !isBySite || locks)).toEqual([])
  })
})

describe('a statement', () => {
  const TABLES = new Set(['a', 'b'])
  const judged = async (sql: string): Promise<string> => {
    const way = await wayOf(sql, TABLES)
    if (way === undefined) return 'of no site'
    if (way.isOfOneSite) return 'of one site'
    return way.isBySite ? 'by site' : 'across sites'
  }

  test.each([
    ['select 1 from c where c.x = $1', 'of no site'],
    ['select x from a where site_id = $1', 'of one site'],
    ['select x from a where x = $1', 'by site'],
    ['select x from a where site_id = $1 or x = $2', 'by site'],
    ['select x from a where site_id = any($1)', 'by site'],
    ['select x from a where site_id <> $1', 'by site'],
    ['select x from a join b on b.site_id = a.site_id where a.site_id = $1', 'of one site'],
    ['select x from a join b using (site_id, x) where a.site_id = $1', 'of one site'],
    ['select x from a join b on b.x = a.x where a.site_id = $1', 'across sites'],
    ['select x from a join b on b.site_id = a.site_id', 'by site'],
    [
      'select x from a where site_id = $1 and exists (select from b where b.x = a.x)',
      'across sites',
    ],
    [
      'select x from a where site_id = $1 and exists (select from b where b.site_id = a.site_id)',
      'of one site',
    ],
    [
      'select x from a where site_id = $1 union all select x from b where site_id = $1',
      'of one site',
    ],
    ['select x from a where site_id = $1 union all select x from b', 'across sites'],
    [
      'with found as (select * from b where site_id = $1) select from a, found where a.site_id = found.site_id',
      'of one site',
    ],
    ['with found as (select x from b) select from a, found where a.site_id = $1', 'across sites'],
    ['insert into a (x, site_id) values ($1, $2), ($3, $2)', 'of one site'],
    ['insert into a (x, site_id) select x, site_id from b where b.site_id = $1', 'of one site'],
    ['insert into a (x, site_id) select x, site_id from b', 'by site'],
    ['insert into a (x, site_id) select x, y from b where site_id = $1', 'across sites'],
    ['update a set x = $1 where site_id = $2', 'of one site'],
    ['update a set x = b.x from b where b.x = a.x and a.site_id = $1', 'across sites'],
    [
      'delete from a where ctid = any(array(select ctid from a where site_id = $1))',
      'across sites',
    ],
    [
      'delete from a where site_id = $1 and ctid = any(array(select ctid from a where site_id = $1))',
      'of one site',
    ],
  ])('%s', async (sql, way) => {
    expect(await judged(sql)).toBe(way)
  })

  test('that locks rows is known', async () => {
    const sql = 'select x from a where x = $1 for update skip locked'
    expect(await wayOf(sql, TABLES)).toMatchObject({ isOfOneSite: false, locks: true })
  })
})
