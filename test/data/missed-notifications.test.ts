import { afterAll, beforeAll, expect, test } from 'vitest'

import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'

const SITES = Array.from({ length: 7 }, (_, index) => `site-${index}.test`)

let stack: Stack
beforeAll(async () => {
  stack = await startStack({ sites: SITES })
  for (const host of SITES) {
    await stack.synced(host)
    await ask(host)
  }
})
afterAll(() => stack[Symbol.asyncDispose]())

/** Whatever it is answered, the site is in memory then. */
const ask = async (host: string) => {
  const { status } = await stack.call(host, 'POST', '/data/public/nothing', { body: {} })
  expect(status).toBe(404)
}

type Sql = Parameters<Parameters<typeof asSuperuser>[1]>[0]

/** Those that listen, or were asked since whether they still do. */
const cutListeners = (sql: Sql) => sql`
  select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and (query like 'listen%' or query = 'select 1')`

test('sites are read again a few at a time, so that calls find connections', async () => {
  await asSuperuser(stack, async (sql) => {
    // Not from pg_stat_activity: within a transaction it shows no connection that was opened later.
    const reads = async () => {
      const rows = await sql<{ waiting: number }[]>`
        select count(*)::int as waiting from pg_locks
        where not granted and relation = 'site_runtime'::regclass
          and database = (select oid from pg_database where datname = current_database())`
      return rows[0]?.waiting
    }
    await sql`begin`
    await sql`lock table site_runtime in access exclusive mode`
    await cutListeners(sql)
    await expect.poll(reads).toBe(4)
    // Any other reader would have asked with them.
    await stack.portal('GET', '/sites')
    expect(await reads()).toBe(4)
    await sql`commit`
    await expect.poll(reads).toBe(0)
  })
  for (const host of SITES) await ask(host)
})

test('a site that was renamed without a notification is served under its new name', async () => {
  const site = await RuntimeSite.open(stack, 'site-0.test')
  await site.publish('where', 'export default ({ site }) => site.siteDomain')
  expect(await site.call('where')).toMatchObject({ status: 200, json: { data: 'site-0.test' } })
  await asSuperuser(stack, async (sql) => {
    await sql`update site set domain = 'renamed.test' where domain = 'site-0.test'`
    await sql`update site_host set host = 'renamed.test' where host = 'site-0.test'`
    await cutListeners(sql)
  })
  const renamed = () => stack.call('renamed.test', 'POST', '/data/public/where', { body: {} })
  await expect.poll(async () => (await renamed()).json?.data).toBe('renamed.test')
})
