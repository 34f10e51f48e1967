import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { KEPT_EVENTS } from '#identity/security-events/model.ts'
import { IdentityCluster, type Replica } from '#test/identity-replica.ts'
import { asAdmin } from '#test/postgres.ts'

const DAY_SECONDS = 24 * 3600

let cluster: IdentityCluster
let replica: Replica
beforeAll(async () => {
  cluster = await IdentityCluster.start()
  replica = await cluster.replica()
})
afterAll(() => cluster[Symbol.asyncDispose]())

const newSite = async (domain: string) => {
  const { site } = await cluster.createSite(replica, domain, [])
  return site.siteId
}
const eventsOf = async (siteId: string, limit = 100) => {
  const page = { limit, after: undefined }
  return (await replica.securityEvents.list(siteId, {}, page)).items.map(({ event }) => event)
}
const count = async (siteId: string) => {
  let rows: readonly { readonly count: number }[] = []
  await asAdmin(async (admin) => {
    rows = await admin`select count(*)::int as count from security_event where site_id = ${siteId}`
  }, cluster.databaseUrl)
  return rows[0]?.count
}

describe('the audit trail’s memory', () => {
  test('ends after 400 days', async () => {
    const siteId = await newSite('old.test')
    await replica.securityEvents.note(siteId, { event: 'role.changed' })
    cluster.clock.forwardSeconds(2 * DAY_SECONDS)
    await replica.securityEvents.note(siteId, { event: 'user.created' })
    cluster.clock.forwardSeconds(399 * DAY_SECONDS)
    expect(await eventsOf(siteId)).toEqual(['user.created', 'role.changed'])
    await replica.securityEvents.note(siteId, { event: 'sign-out' })
    expect(await eventsOf(siteId)).toEqual(['sign-out', 'user.created'])
  })

  test('is looked through once an hour, and one site’s says nothing about another’s', async () => {
    const [siteId, other] = [await newSite('one.test'), await newSite('two.test')]
    await replica.securityEvents.note(other, { event: 'role.changed' })
    cluster.clock.forwardSeconds(400 * DAY_SECONDS - 10)
    await replica.securityEvents.note(siteId, { event: 'sign-out' })
    cluster.clock.forwardSeconds(20)
    await replica.securityEvents.note(siteId, { event: 'sign-out' })
    expect(await count(other)).toBe(1)
    await replica.securityEvents.note(other, { event: 'sign-out' })
    expect(await eventsOf(other)).toEqual(['sign-out'])
  })

  test('is not flooded by strangers: their failures go before anything lasting does', async () => {
    const siteId = await newSite('flood.test')
    await replica.securityEvents.note(siteId, { event: 'role.changed' })
    await replica.securityEvents.note(siteId, { event: 'sign-in.failed' })
    await asAdmin(
      (admin) => admin`
        insert into security_event (site_id, event_id, at, event)
        select ${siteId}, 'flood_' || n, ${new Date(cluster.clock.now().getTime() + 1)}, 'sign-in.failed'
        from generate_series(1, ${KEPT_EVENTS}) as n`,
      cluster.databaseUrl,
    )
    cluster.clock.forwardSeconds(3601)
    const since = performance.now()
    await replica.securityEvents.note(siteId, { event: 'sign-out' })
    expect(performance.now() - since).toBeLessThan(5000)
    // Of those that came in the same instant as the oldest one kept, none is older.
    expect(await count(siteId)).toBe(KEPT_EVENTS + 2)
    const lasting = await replica.securityEvents.list(
      siteId,
      { event: 'role.changed' },
      { limit: 1, after: undefined },
    )
    expect(lasting.items).toHaveLength(1)
  }, 60_000)

  test('is shortened a batch at a time until it is short enough', async () => {
    const siteId = await newSite('batches.test')
    await asAdmin(
      (admin) => admin`
        insert into security_event (site_id, event_id, at, event)
        select ${siteId}, 'old_' || n, '2020-01-01', 'role.changed' from generate_series(1, 4500) as n`,
      cluster.databaseUrl,
    )
    const left = []
    for (let turn = 0; turn < 4; turn++) {
      await replica.securityEvents.note(siteId, { event: 'sign-out' })
      left.push(await count(siteId))
    }
    expect(left).toEqual([2501, 502, 3, 4])
  })

  test('holds nothing of what was rolled back', async () => {
    const siteId = await newSite('rollback.test')
    const failing = replica.database.withSite(siteId, async (tx) => {
      await replica.securityEvents.record(tx, { event: 'role.changed' })
      throw new Error('rolled back')
    })
    await expect(failing).rejects.toThrow('rolled back')
    expect(await eventsOf(siteId)).toEqual([])
  })
})
