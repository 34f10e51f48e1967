import { expect, test } from 'vitest'

import { RuntimeSite } from '#test/runtime-site.ts'
import { startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'

test('a site that gets another name while it is read is not kept under the old one', async () => {
  await using stack = await startStack({ sites: ['old.test'] })
  const site = await RuntimeSite.open(stack, 'old.test')
  await site.publish('where', 'export default ({ site }) => site.siteDomain')
  expect(await site.call('where')).toMatchObject({ status: 200, json: { data: 'old.test' } })
  const { siteId } = await stack.context.sites.find('old.test')
  const asked = async (host: string) =>
    (await stack.call(host, 'GET', '/admin/public/config')).status

  await asSuperuser(stack, (locking) =>
    locking.begin(async (lock) => {
      await lock`lock table site_runtime in access exclusive mode`
      const reads = async () => {
        const rows = await lock`
          select from pg_locks join pg_stat_activity using (pid)
          where not granted and relation = 'site_runtime'::regclass and datname = current_database()`
        return rows.length
      }
      await asSuperuser(stack, async (sql) => {
        await sql`select pg_notify('croft_revision', ${JSON.stringify({ siteId })})`
        await expect.poll(reads).toBe(1)
        await sql`update site set domain = 'new.test' where site_id = ${siteId}`
        await sql`update site_host set host = 'new.test' where site_id = ${siteId}`
        const renamed = { siteId, domains: ['old.test', 'new.test'] }
        await sql`select pg_notify('croft_site', ${JSON.stringify(renamed)})`
        await expect.poll(() => asked('old.test')).toBe(404)
      })
    }),
  )
  const where = () => stack.call('new.test', 'POST', '/data/public/where', { body: {} })
  for (let n = 0; n < 3; n++) expect((await where()).json?.data).toBe('new.test')
})
