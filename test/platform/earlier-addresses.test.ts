import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { domainToASCII } from 'node:url'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { installRoot } from '#config/install-root.ts'
import { migrateDatabase } from '#platform/migrate-database.ts'
import { createClient } from '#platform/postgres/client.ts'
import { emptyDatabase } from '#test/postgres.ts'
import { silentLog } from '#test/silent-log.ts'

const MIGRATION = '0426_ascii_domains_of_addresses.sql'
const DOMAINS = [
  'ü.test',
  'bücher.example',
  'faß.de',
  'ουτοπία.gr',
  'президент.рф',
  '点看.中国',
  'ひとつ。の.jp',
  'a-ü-b-c.sub.ñandú.com',
  '☃.net',
  '💩.la',
  'מכון.co.il',
  'xn--tda.example',
  'plain.test',
]

let cleanUp: AsyncDisposableStack
let sql: ReturnType<typeof createClient>
beforeAll(async () => {
  cleanUp = new AsyncDisposableStack()
  const { url } = cleanUp.use(await emptyDatabase())
  const folder = await mkdtemp(join(tmpdir(), 'croft-migrations-'))
  cleanUp.defer(() => rm(folder, { recursive: true }))
  const migrate = async (wanted: (name: string) => boolean) => {
    const source = join(installRoot(), 'migrations')
    for (const name of (await readdir(source)).filter(wanted)) {
      await cp(join(source, name), join(folder, name))
    }
    await migrateDatabase({ url, folder, log: silentLog })
  }
  await migrate((name) => name < MIGRATION)
  sql = createClient({ url, max: 1 })
  cleanUp.defer(() => sql.end())
  await fill()
  await migrate((name) => name <= MIGRATION)
})
afterAll(() => cleanUp.disposeAsync())

async function fill(): Promise<void> {
  for (const site of ['one', 'two']) {
    await sql`
      insert into site (site_id, domain, region, source_mode, repo_binding, deployment_settings)
      values (${site}, ${`${site}.test`}, 'eu-central-1', 'SITE_GIT', '{}', '{}')`
    await sql`insert into user_pool (site_id, user_pool_id, kind) values (${site}, 'pool', 'admin')`
    for (const domain of DOMAINS) {
      await user(site, `ann@${domain}`, `ext@${domain}`)
      await sql`insert into contact_recipient (site_id, email, created_at, updated_at)
        values (${site}, ${`to@${domain}`}, now(), now())`
    }
  }
  await user('one', 'both@ö.test', null)
  await user('one', 'both@xn--nda.test', null)
  await user('one', 'twice@ö.test', null)
  await user('one', 'twice@o\u0308.test', null)
  await sql`insert into contact_recipient (site_id, email, created_at, updated_at)
    values ('one', 'to@xn--tda.test', now(), now())`
}

const user = (site: string, email: string, external: string | null) =>
  sql`insert into pool_user (site_id, user_pool_id, sub, email, external_email, role, status, origin)
    values (${site}, 'pool', gen_random_uuid(), ${email}, ${external}, 'user', 'ACTIVE', 'invite')`

describe('addresses of an earlier version', () => {
  test('have their domains in ASCII, as they are looked up', async () => {
    for (const site of ['one', 'two']) {
      const rows = await sql<{ email: string; external_email: string }[]>`
        select email, external_email from pool_user
        where site_id = ${site} and email like 'ann@%'`
      const expected = DOMAINS.map((domain) => domainToASCII(domain)).toSorted()
      expect(rows.map(({ email }) => email.slice(4)).toSorted()).toEqual(expected)
      expect(rows.map(({ external_email: email }) => email.slice(4)).toSorted()).toEqual(expected)
      const recipients = await sql<{ email: string }[]>`
        select email from contact_recipient where site_id = ${site}`
      expect(recipients.map(({ email }) => email.slice(3)).toSorted()).toEqual(expected)
    }
  })

  test('keep their spelling where the other one is an account already', async () => {
    const rows = await sql<{ email: string }[]>`
      select email from pool_user where email like 'both@%' or email like 'twice@%' order by email`
    expect(rows.map(({ email }) => email)).toEqual([
      'both@xn--nda.test',
      'both@ö.test',
      'twice@o\u0308.test',
      'twice@xn--nda.test',
    ])
  })
})
