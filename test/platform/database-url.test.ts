import { randomBytes } from 'node:crypto'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { openPostgres } from '#platform/open-postgres.ts'
import { createClient } from '#platform/postgres/client.ts'
import { type PostgresPlatform, connectPostgres } from '#platform/postgres/postgres.ts'
import { APP_ROLE } from '#platform/postgres/role.ts'
import { assertMasterKey } from '#platform/seal/master-key-canary.ts'
import { Sealer } from '#platform/seal/sealer.ts'
import { asAdmin, emptyDatabase } from '#test/postgres.ts'
import { silentLog } from '#test/silent-log.ts'

let cleanUp: AsyncDisposableStack
let url: string
beforeEach(async () => {
  cleanUp = new AsyncDisposableStack()
  url = cleanUp.use(await emptyDatabase()).url
})
afterEach(() => cleanUp.disposeAsync())

/** A role of its own for this test, and the URL that connects as it. */
async function createRole(attributes: string): Promise<string> {
  const name = `croft_test_${randomBytes(6).toString('hex')}`
  const database = new URL(url).pathname.slice(1)
  await asAdmin(async (admin) => {
    await admin.unsafe(`create role ${name} login password 'secret' ${attributes}`)
    await admin.unsafe(`alter database ${database} owner to ${name}`)
  })
  cleanUp.defer(async () => {
    await asAdmin(async (admin) => admin.unsafe(`drop owned by ${name} cascade`), url)
    await asAdmin(async (admin) => {
      await admin.unsafe(`alter database ${database} owner to current_user`)
      await admin.unsafe(`drop role ${name}`)
    })
  })
  const as = new URL(url)
  as.username = name
  as.password = 'secret'
  return as.href
}

const open = async (databaseUrl: string): Promise<PostgresPlatform> =>
  cleanUp.use(
    await openPostgres({
      config: { dataDir: '/nowhere' },
      secrets: { databaseUrl },
      log: silentLog,
    }),
  )

const currentUser = async ({ sql }: PostgresPlatform) =>
  (await sql<{ name: string }[]>`select current_user as name`)[0]?.name

async function insertSite({ database }: PostgresPlatform): Promise<void> {
  await database.withSite('one', ({ db }) =>
    db
      .insertInto('site')
      .values({
        site_id: 'one',
        domain: 'one.test',
        region: 'eu-local-1',
        source_mode: 'SITE_GIT',
        repo_binding: '{"branch":"main"}',
        deployment_settings: '{}',
      })
      .execute(),
  )
}

const seenBy = ({ database }: PostgresPlatform, siteId: string) =>
  database.withSite(siteId, ({ db }) =>
    db.selectFrom('site').select(['site_id', 'repo_binding']).execute(),
  )

describe('a service whose DATABASE_URL names', () => {
  test.each([
    ['a superuser', 'superuser'],
    ['a role that bypasses row-level security', `bypassrls in role ${APP_ROLE}`],
  ])('%s works as the app role', async (_what, attributes) => {
    const platform = await open(await createRole(attributes))
    expect(await currentUser(platform)).toBe(APP_ROLE)
    await insertSite(platform)
    expect(await seenBy(platform, 'one')).toHaveLength(1)
    expect(await seenBy(platform, 'two')).toEqual([])
  })

  test('a role that bypasses it and may not become the app role gets an error that says how to let it', async () => {
    await expect(open(await createRole('bypassrls'))).rejects.toThrow(
      /run "grant croft_app to croft_test_\w+" as a superuser/,
    )
  })

  test('the plain owner of its database works as that owner, and is confined too', async () => {
    const owner = await createRole('nosuperuser')
    const platform = await open(owner)
    expect(await currentUser(platform)).toBe(new URL(owner).username)
    await insertSite(platform)
    expect(await seenBy(platform, 'one')).toHaveLength(1)
    expect(await seenBy(platform, 'two')).toEqual([])
    expect(await platform.sql`select site_id from site`).toHaveLength(0)
  })

  test('a server that is not there ends with a sentence that leaves the password out', async () => {
    const wrong = 'postgres://someone:hunter2@127.0.0.1:1/croft'
    const fault = await open(wrong).catch(String)
    expect(fault).toMatch(/^SetupError: DATABASE_URL: no connection to "127.0.0.1:1\/croft"/)
    expect(fault).not.toContain('hunter2')
  })

  test('a wrong user or password ends the same way', async () => {
    const wrong = new URL(url)
    wrong.username = 'croft_nobody'
    wrong.password = 'hunter2'
    const fault = await open(wrong.href).catch(String)
    expect(fault).toMatch(/DATABASE_URL: .*(password authentication failed|does not exist)/)
    expect(fault).not.toContain('hunter2')
  })
})

describe('values', () => {
  test('come back from Postgres as they were', async () => {
    const { sql, database } = await open(url)
    const [row] = await sql`select
      ${'{"a":[1,"x"]}'}::jsonb -> 'a' ->> 1 as inside, ${'"text"'}::jsonb as text,
      ${9_007_199_254_740_993n.toString()}::bigint as big, ${Buffer.from('\\x00ÿ')}::bytea as bytes,
      ${new Date(0)}::timestamptz as at, date '2026-02-03' as day, '-infinity'::timestamptz as ever`
    expect(row).toEqual({
      inside: 'x',
      text: 'text',
      big: '9007199254740993',
      bytes: Buffer.from('\\x00ÿ'),
      at: new Date(0),
      day: '2026-02-03',
      ever: new Date(-8_640_000_000_000_000),
    })
    const [again] = await sql`select ${row?.['ever']}::timestamptz = '-infinity' as same`
    expect(again).toEqual({ same: true })
    await database.ping()
  })
})

describe('the master key', () => {
  test('of the first start is the only one that a database accepts', async () => {
    const { sql } = await open(url)
    const sealer = new Sealer(randomBytes(32))
    await Promise.all([1, 2, 3].map(() => assertMasterKey(sql, sealer)))
    await assertMasterKey(sql, sealer)
    const other = new Sealer(randomBytes(32))
    await expect(assertMasterKey(sql, other)).rejects.toThrow('CROFT_MASTER_KEY is not the key')
  })
})

test('a role that may bypass row-level security is refused, however it came about', async () => {
  await open(url)
  // A pooler that drops the "role" parameter looks like this from within.
  const client = createClient({ url, max: 1 })
  cleanUp.defer(() => client.end())
  const { assertRowLevelSecurity } = await import('#platform/postgres/role.ts')
  await expect(assertRowLevelSecurity(client)).rejects.toThrow('which would see every site')
})

test('an unmigrated database is not served', async () => {
  const owner = await createRole('nosuperuser')
  const platform = cleanUp.use(await connectPostgres({ url: owner, log: silentLog }))
  await expect(seenBy(platform, 'one')).rejects.toMatchObject({ code: '42P01' })
})
