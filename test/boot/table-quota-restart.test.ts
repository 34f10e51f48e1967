import { randomBytes } from 'node:crypto'

import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { type KillableService, killableService } from '#test/killable-service.ts'
import { portalOf } from '#test/operator.ts'

const HOST = 'shop.test'
const LIMIT = 1000

let service: KillableService
const cleanUp = new AsyncDisposableStack()
beforeAll(async () => {
  service = await killableService(cleanUp)
})
afterAll(() => cleanUp.disposeAsync())

const limitItems = (siteId: string) =>
  service.database.withSite(siteId, ({ db }) =>
    sql`update site set deployment_settings =
          jsonb_set(deployment_settings, '{limits}', ${JSON.stringify({ tableItems: LIMIT })}::jsonb)
        where site_id = ${siteId}`.execute(db),
  )

const stored = (siteId: string): Promise<number> =>
  service.database.withSite(siteId, async ({ db }) => {
    const { rows } = await sql<{ items: number }>`
      select count(*)::int as items from table_item where site_id = ${siteId}`.execute(db)
    return rows[0]?.items ?? 0
  })

/** As if two minutes had passed. */
const forgetTheDead = (siteId: string) =>
  service.database.withSite(siteId, ({ db }) =>
    sql`update table_room set renewed_at = renewed_at - interval '2 minutes'
        where site_id = ${siteId}`.execute(db),
  )

test('a kill -9 loses nothing that was written from the account, and no room for longer than minutes', async () => {
  const first = await service.start()
  const portal = portalOf(first, service.operatorKey)
  await portal.createSite(HOST)
  const siteId = (await portal.sites()).find(({ domain }) => domain === HOST)?.siteId ?? ''
  await limitItems(siteId)
  const admin = await portal.admin(HOST)
  const { resourceId } = (
    await admin('POST', '/admin/data/resources', {
      type: 'ddbTable',
      name: 'things',
      config: { partitionKey: { name: 'k', type: 'S' } },
    })
  ).json
  const writer = (call: typeof admin) => {
    let serial = 0
    const mark = randomBytes(4).toString('hex')
    return async () => {
      const puts = Array.from({ length: 5 }, () => ({ k: `${mark}-${serial++}` }))
      const path = `/admin/data/resources/${resourceId}/data/ddb/batch-write`
      return (await call('POST', path, { puts }).catch(() => undefined))?.status
    }
  }
  const write = writer(admin)
  const crowd = Array.from({ length: 6 }, async () => {
    while ((await write()) === 200);
  })
  await first.until('some items are there', async () => (await stored(siteId)) > 200)
  await first.kill()
  await Promise.all(crowd)
  const before = await stored(siteId)
  expect(before).toBeLessThan(LIMIT)

  const second = await service.start()
  const again = await portalOf(second, service.operatorKey).admin(HOST)
  const fill = writer(again)
  while ((await fill()) === 200);
  const filled = await stored(siteId)
  expect(filled).toBeLessThanOrEqual(LIMIT)
  // What the dead process held: what its writes ran with, and a 64th of what was left.
  expect(filled).toBeGreaterThan(LIMIT - 6 * 5 - Math.ceil(LIMIT / 64) - 5)
  await forgetTheDead(siteId)
  await second.until(
    'the room of the dead is given to others',
    async () => (await fill()) === 200 || (await stored(siteId)) === LIMIT,
  )
  while ((await fill()) === 200);
  expect(await stored(siteId)).toBe(LIMIT)
  expect((await again('GET', '/admin/data/usage')).json.tables.usedItems).toBe(LIMIT)
  expect((await second.stop()).code).toBe(0)
}, 120_000)
