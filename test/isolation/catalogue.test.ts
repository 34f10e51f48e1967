import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { PostgresPlatform } from '#platform/postgres/postgres.ts'
import { APP_ROLE } from '#platform/postgres/role.ts'
import { type TestDatabase, openDatabase } from '#test/postgres.ts'

/** Tables without a tenant's rows. A table with tenants' rows never belongs here. */
const INSTANCE_TABLES = ['backup_hold', 'backup_kept_object', 'instance', 'schema_migration']

let postgres: PostgresPlatform & TestDatabase
beforeAll(async () => {
  postgres = await openDatabase()
})
afterAll(() => postgres[Symbol.asyncDispose]())

interface TableFacts {
  readonly name: string
  readonly hasSite: boolean
  readonly forced: boolean
  readonly firstKeyColumn: string | null
  readonly policies: string[]
}

const selectTables = () => postgres.sql<TableFacts[]>`
  select c.relname as name,
         exists (select from pg_attribute a
                 where a.attrelid = c.oid and a.attname = 'site_id' and not a.attisdropped) as "hasSite",
         c.relrowsecurity and c.relforcerowsecurity as forced,
         (select a.attname from pg_index i
          join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
          where i.indrelid = c.oid and i.indisprimary) as "firstKeyColumn",
         array(select p.polname::text from pg_policy p
               where p.polrelid = c.oid and p.polcmd = '*' and p.polqual is not null
                 and p.polwithcheck is not null) as policies
  from pg_class c
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
  order by c.relname`

describe('the catalogue', () => {
  test('has no schema but our own and that of the queue, which holds jobs of all sites', async () => {
    const schemas = await postgres.sql`
      select nspname as name from pg_namespace
      where nspname !~ '^pg_' and nspname <> 'information_schema' order by nspname`
    expect(schemas.map(({ name }) => name)).toEqual(['pgboss', 'public'])
  })

  test('holds every table with a site to it by forced row-level security', async () => {
    const tables = (await selectTables()).filter((table) => table.hasSite)
    expect(tables.length).toBeGreaterThan(10)
    for (const table of tables) {
      expect(table).toMatchObject({
        forced: true,
        firstKeyColumn: 'site_id',
        policies: ['site_isolation'],
      })
    }
  })

  test('has no table without a site but those that are named here', async () => {
    const names = (await selectTables()).filter((table) => !table.hasSite).map(({ name }) => name)
    expect(names).toEqual(INSTANCE_TABLES)
  })
})

const insertSite = (siteId: string) =>
  postgres.database.withSite(siteId, ({ db }) =>
    db
      .insertInto('site')
      .values({
        site_id: siteId,
        domain: `${siteId}.test`,
        region: 'eu-local-1',
        source_mode: 'SITE_GIT',
        repo_binding: JSON.stringify({ branch: 'main', artifactDirectory: 'dist' }),
        deployment_settings: JSON.stringify({}),
      })
      .execute(),
  )

const insertJob = (siteId: string) =>
  postgres.database.withSite(siteId, async ({ db }) => {
    const named = { site_id: siteId, job_id: 'job' }
    await db
      .insertInto('data_operation')
      .values({
        site_id: siteId,
        operation: 'op',
        lambda_resource_id: null,
        preset: '{"preset":"echo"}',
        auth: '{}',
      })
      .execute()
    await db
      .insertInto('data_job')
      .values({
        ...named,
        operation: 'op',
        payload: '"secret"',
        schedule: '{"cron":"* * * * *"}',
        scheduled_since: new Date(),
        auth: '{}',
        last_tick: null,
      })
      .execute()
    await db
      .insertInto('data_job_due')
      .values({ ...named, due_at: new Date() })
      .execute()
  })

describe('the app role', () => {
  beforeAll(async () => {
    for (const siteId of ['one', 'two']) {
      await insertSite(siteId)
      await postgres.database.withSite(siteId, ({ db }) =>
        db
          .insertInto('user_pool')
          .values({ site_id: siteId, user_pool_id: `p_${siteId}`, kind: 'data' })
          .execute(),
      )
    }
  })

  test('can neither bypass row-level security nor own anything', async () => {
    const [role] = await postgres.sql`
      select rolname as name, rolsuper as super, rolbypassrls as bypass, rolcreaterole as "createRole",
             (select count(*)::int from pg_class where relowner = r.oid) as owned
      from pg_roles r where rolname = current_user`
    expect(role).toEqual({
      name: APP_ROLE,
      super: false,
      bypass: false,
      createRole: false,
      owned: 0,
    })
  })

  test('sees nothing when it says no site', async () => {
    expect(await postgres.sql`select site_id from user_pool`).toHaveLength(0)
    expect(await postgres.sql`select site_id from site`).toHaveLength(0)
  })

  test('sees one site only when a query forgets to name it', async () => {
    const rows = await postgres.database.withSite('one', ({ db }) =>
      db.selectFrom('user_pool').select('site_id').execute(),
    )
    expect(rows).toEqual([{ site_id: 'one' }])
  })

  test('cannot write a row of another site', async () => {
    const stolen = postgres.database.withSite('one', ({ db }) =>
      db
        .insertInto('user_pool')
        .values({ site_id: 'two', user_pool_id: 'p_x', kind: 'admin' })
        .execute(),
    )
    await expect(stolen).rejects.toMatchObject({ code: '42501' })
  })

  test('sees the directory of sites with withDirectory, and nothing else of theirs', async () => {
    const seen = await postgres.database.withDirectory(async ({ db }) => ({
      sites: (await db.selectFrom('site').select('site_id').orderBy('site_id').execute()).length,
      pools: (await db.selectFrom('user_pool').select('site_id').execute()).length,
    }))
    expect(seen).toEqual({ sites: 2, pools: 0 })
  })

  test('sees when jobs of all sites are due with withDueJobs, and nothing else of theirs', async () => {
    for (const siteId of ['one', 'two']) await insertJob(siteId)
    const seen = await postgres.database.withDueJobs(async ({ db }) => ({
      due: await db.selectFrom('data_job_due').select('site_id').orderBy('site_id').execute(),
      jobs: await db.selectFrom('data_job').select('site_id').execute(),
      sites: await db.selectFrom('site').select('site_id').execute(),
      changed: (await db.deleteFrom('data_job_due').executeTakeFirst()).numDeletedRows,
    }))
    const due = [{ site_id: 'one' }, { site_id: 'two' }]
    expect(seen).toEqual({ due, jobs: [], sites: [], changed: 0n })
    expect(await postgres.sql`select site_id from data_job_due`).toHaveLength(0)
  })

  test('cannot change a site with withDirectory', async () => {
    const outcome = await postgres.database.withDirectory(({ db }) =>
      db.updateTable('site').set({ region: 'x' }).executeTakeFirst(),
    )
    expect(outcome.numUpdatedRows).toBe(0n)
  })

  test.each([
    ['turning row-level security off', 'set row_security = off; select site_id from user_pool'],
    ['altering a table', 'alter table site no force row level security'],
    ['dropping a policy', 'drop policy site_isolation on user_pool'],
    ['creating a table', 'create table public.mine (x int)'],
    ['creating a schema', 'create schema mine'],
    ['altering the queue', 'alter table pgboss.job add column mine int'],
    ['rewriting the history of migrations', "update schema_migration set sha256 = 'x'"],
    ['truncating', 'truncate user_pool'],
  ])('is refused %s', async (_what, statement) => {
    const connection = await postgres.sql.reserve()
    try {
      await expect(connection.unsafe(statement).simple()).rejects.toMatchObject({ code: '42501' })
    } finally {
      await connection.unsafe('set row_security = on')
      connection.release()
    }
  })
})
