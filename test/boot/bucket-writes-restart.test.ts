import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { type KillableService, killableService } from '#test/killable-service.ts'
import { portalOf } from '#test/operator.ts'

const HOST = 'files.test'
const WRITERS = 12
const KEYS = 30

let service: KillableService
const cleanUp = new AsyncDisposableStack()
beforeAll(async () => {
  service = await killableService(cleanUp)
})
afterAll(() => cleanUp.disposeAsync())

/** As if a day had passed since the dead replica promised anything and the last count. */
const letADayPass = (siteId: string) =>
  service.database.withSite(siteId, async ({ db }) => {
    await sql`update bucket_reservation set expires_at = now() where site_id = ${siteId}`.execute(
      db,
    )
    await sql`update bucket_usage set recounted_at = recounted_at - interval '25 hours'
              where site_id = ${siteId}`.execute(db)
    await sql`update pgboss.job set start_after = now()
              where name = 'bucket-upkeep' and state = 'created'`.execute(db)
  })

test('a kill -9 among many writers loses no object that was acknowledged, and leaks no room', async () => {
  const first = await service.start()
  const portal = portalOf(first, service.operatorKey)
  await portal.createSite(HOST)
  const siteId = (await portal.sites()).find(({ domain }) => domain === HOST)?.siteId ?? ''
  const admin = await portal.admin(HOST)
  const made = await admin('POST', '/admin/data/resources', { type: 's3Bucket', name: 'files' })
  const s3 = `/admin/data/resources/${made.json.resourceId}/data/s3`
  const acknowledged = new Map<string, string | undefined>()
  /** Its last step on each key may or may not have been done. */
  const open = new Set<string>()
  let steps = 0
  const writer = async (_: unknown, own: number) => {
    for (let at = 0; ; at++) {
      const key = `${own}/${at % KEYS}`
      const body = at % 7 === 6 ? undefined : `${at} ${'x'.repeat(at % 50)}`
      const [action, input] = body === undefined ? ['delete', { key }] : ['put', { key, body }]
      open.add(key)
      const answer = await admin('POST', `${s3}/${action}-object`, input).catch(() => undefined)
      if (answer?.status !== 200) return
      acknowledged.set(key, body)
      open.delete(key)
      steps += 1
    }
  }
  const crowd = Promise.all(Array.from({ length: WRITERS }, writer))
  await first.until('many writes were done', async () => steps > 300)
  await first.kill()
  await crowd

  const second = await service.start()
  const again = await portalOf(second, service.operatorKey).admin(HOST)
  for (const [key, body] of acknowledged) {
    if (open.has(key)) continue
    const found = await again('POST', `${s3}/get-object`, { key }).then(
      ({ json }) => json.body,
      (error: unknown) => {
        if (!String(error).includes('ObjectNotFound')) throw error
      },
    )
    expect([key, found]).toEqual([key, body])
  }
  const stored = async () => {
    const { items } = (await again('POST', `${s3}/list-objects`, { maxKeys: 1000 })).json
    const sizes: number[] = items.map(({ size }: { size: number }) => size)
    return { bytes: sizes.reduce((sum, size) => sum + size, 0), objects: sizes.length }
  }
  const usage = async () => (await again('GET', '/admin/data/usage')).json.buckets
  const { bytes, objects } = await stored()
  const charged = await usage()
  expect(charged.chargedBytes).toBeGreaterThanOrEqual(bytes)
  expect(charged.chargedObjects).toBeGreaterThanOrEqual(objects)
  await letADayPass(siteId)
  await second.until('what the dead had promised is given back', async () => {
    const { usedBytes, usedObjects, chargedBytes, chargedObjects } = await usage()
    return (
      usedBytes === bytes &&
      chargedBytes === bytes &&
      usedObjects === objects &&
      chargedObjects === objects
    )
  })
  expect((await second.stop()).code).toBe(0)
}, 120_000)
