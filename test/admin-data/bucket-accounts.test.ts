import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import type { ObjectStore } from '#platform/objects/object-store.ts'
import { request } from '#test/http-client.ts'
import { openS3Store } from '#test/object-stores.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

const HOUR_MS = 3_600_000
const text = (bytes: number) => 'x'.repeat(bytes)
let stack: Stack
let serial = 0
beforeAll(async () => {
  stack = await startStack()
})
afterAll(() => stack[Symbol.asyncDispose]())

/** A site of its own with a quota of its own, and one bucket. */
class Room {
  readonly site: RuntimeSite
  readonly siteId: string
  readonly bucket: string
  readonly #stack: Stack

  private constructor(on: Stack, site: RuntimeSite, siteId: string, bucket: string) {
    this.#stack = on
    this.site = site
    this.siteId = siteId
    this.bucket = bucket
  }

  static async open(limits: object = {}, on: Stack = stack): Promise<Room> {
    const site = await RuntimeSite.create(on, `room${serial++}.test`)
    const { siteId } = await on.context.sites.find(site.host)
    const made = await site.admin('POST', '/resources', { type: 's3Bucket', name: 'files' })
    const room = new Room(on, site, siteId, made.json.resourceId)
    await room.allow(limits)
    return room
  }

  /** The same, through another replica. */
  async on(other: Stack): Promise<Room> {
    const site = await RuntimeSite.open(other, this.site.host)
    return new Room(other, site, this.siteId, this.bucket)
  }

  async allow(limits: object): Promise<void> {
    await this.#stack.context.sites.update(this.siteId, { deploymentSettings: { limits } })
  }

  act(action: string, body: object) {
    return this.site.admin('POST', `/resources/${this.bucket}/data/s3/${action}`, body)
  }

  put(key: string, bytes: number) {
    return this.act('put-object', { key, body: text(bytes) })
  }

  promise(key: string, sizeBytes: number, rest = {}) {
    return this.act('presign-put-object', { key, sizeBytes, contentType: 'text/plain', ...rest })
  }

  async usage() {
    return (await this.site.admin('GET', '/usage')).json.buckets
  }

  /** What the object store holds, counted by hand. */
  async stored() {
    const prefix = `sites/${this.siteId}/buckets/`
    const { objects } = await this.#stack.context.objects.list({ prefix, maxKeys: 1000 })
    const bytes = objects.reduce((sum, object) => sum + object.sizeBytes, 0)
    return { usedBytes: bytes, usedObjects: objects.length }
  }

  settled() {
    return this.stored().then(({ usedBytes, usedObjects }) => ({
      usedBytes,
      usedObjects,
      chargedBytes: usedBytes,
      chargedObjects: usedObjects,
    }))
  }
}

const upload = (signed: { url: string; headers: Record<string, string> }, body: string) => {
  const url = new URL(signed.url)
  const { headers } = signed
  const path = url.pathname + url.search
  return request({
    port: Number(url.port),
    host: url.host,
    method: 'PUT',
    path,
    headers,
    body: Buffer.from(body),
  })
}

describe('the quota of a site', () => {
  test('names its limit, what is used and what was asked', async () => {
    const room = await Room.open({ bucketBytes: 100, bucketObjects: 3 })
    await room.put('a', 60)
    expect(await room.put('b', 41)).toMatchObject({
      status: 403,
      json: {
        error: {
          code: 'QuotaExceeded',
          limit: { name: 'bucketBytes', value: 100, used: 60, asked: 41 },
        },
      },
    })
    for (const key of ['b', 'c']) expect((await room.put(key, 1)).status).toBe(200)
    expect((await room.put('d', 1)).json.error.limit).toEqual({
      name: 'bucketObjects',
      value: 3,
      used: 3,
      asked: 1,
    })
    expect(await room.usage()).toEqual(await room.settled())
    expect((await room.site.admin('GET', '/usage')).json.limits).toMatchObject({
      bucketBytes: 100,
      bucketObjects: 3,
    })
  })

  test('counts an overwrite by its difference, and gives back what is deleted', async () => {
    const room = await Room.open({ bucketBytes: 100 })
    await room.put('a', 90)
    expect((await room.put('a', 100)).status).toBe(200)
    expect((await room.put('a', 101)).status).toBe(403)
    expect((await room.put('a', 10)).status).toBe(200)
    expect((await room.put('b', 90)).status).toBe(200)
    await room.act('delete-object', { key: 'a' })
    await room.act('delete-object', { key: 'a' })
    expect(await room.usage()).toEqual(await room.settled())
    expect((await room.put('c', 10)).status).toBe(200)
    expect((await room.put('c', 11)).status).toBe(403)
  })

  test('keeps what is there when it is lowered', async () => {
    const room = await Room.open({ bucketBytes: 100 })
    await room.put('a', 80)
    await room.allow({ bucketBytes: 50 })
    expect((await room.act('get-object', { key: 'a' })).status).toBe(200)
    expect((await room.put('b', 1)).status).toBe(403)
    expect((await room.put('a', 70)).status).toBe(200)
  })

  test('is never passed by fifty writers at its edge, on two replicas', async () => {
    const room = await Room.open({ bucketBytes: 1000, bucketObjects: 1000 })
    await using beside = await startStack({ beside: stack })
    const there = await room.on(beside)
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => (n % 2 ? room : there).put(`k${n}`, 77)),
    )
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(12)
    expect(statuses.filter((status) => status === 403)).toHaveLength(38)
    expect(await room.usage()).toEqual(await room.settled())
  })

  test('agrees with the store, whatever is done at once to the same keys', async () => {
    const room = await Room.open()
    const steps = Array.from({ length: 60 }, (_, n) => {
      const key = `k${n % 3}`
      if (n % 5 === 4) return room.act('delete-object', { key })
      return room.put(key, (n * 37) % 101)
    })
    for (const { status } of await Promise.all(steps)) expect(status).toBe(200)
    expect(await room.usage()).toEqual(await room.settled())
  })

  test('is asked for by many writers together, not by one after the other', async () => {
    const room = await Room.open()
    const answers = await Promise.all(Array.from({ length: 64 }, (_, n) => room.put(`k${n}`, n)))
    for (const { status } of answers) expect(status).toBe(200)
    const transactions = await stack.inSite(room.site.host, async ({ db }) => {
      const { rows } = await sql<{ count: number }>`
        select count(distinct xmin::text)::int as count from bucket_object
        where site_id = ${room.siteId}`.execute(db)
      return rows[0]?.count
    })
    expect(transactions).toBeLessThanOrEqual(32)
    expect(await room.usage()).toEqual(await room.settled())
  })

  test('refuses each of many writers for itself', async () => {
    const room = await Room.open({ bucketBytes: 100 })
    const sizes = [60, 50, 30, 101, 10, 1]
    const answers = await Promise.all(sizes.map((size, n) => room.put(`k${n}`, size)))
    for (const [n, { status, json }] of answers.entries()) {
      if (status === 200) continue
      expect(status).toBe(403)
      expect(json.error.limit).toMatchObject({ name: 'bucketBytes', asked: sizes[n] })
    }
    expect(answers[3]?.status).toBe(403)
    expect(await room.usage()).toEqual(await room.settled())
    expect((await room.usage()).usedBytes).toBeLessThanOrEqual(100)
  })

  test('is kept for each bucket of many writers, also where one is deleted at the same time', async () => {
    const room = await Room.open()
    const made = await room.site.admin('POST', '/resources', { type: 's3Bucket', name: 'gone' })
    const gone = { siteId: room.siteId, bucketId: made.json.resourceId, config: {} }
    const kept = { siteId: room.siteId, bucketId: room.bucket, config: {} }
    await room.site.admin('DELETE', `/resources/${gone.bucketId}`)
    const puts = Array.from({ length: 12 }, (_, n) =>
      stack.context.buckets.perform(n % 2 ? gone : kept, 'put-object', { key: `k${n}`, body: 'x' }),
    )
    const outcomes = await Promise.allSettled(puts)
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(6)
    const refusals = outcomes.filter((outcome) => outcome.status === 'rejected')
    expect(new Set(refusals.map(({ reason }) => reason.code))).toEqual(
      new Set(['ResourceNotFound']),
    )
    expect(await room.usage()).toEqual(await room.settled())
  })

  test('holds for open upload URLs too, once for each key', async () => {
    const room = await Room.open({ bucketBytes: 100 })
    const first = await room.promise('a', 60)
    expect((await room.promise('a', 40)).status).toBe(200)
    expect((await room.promise('b', 41)).json.error.limit).toMatchObject({ used: 60, asked: 41 })
    expect((await room.put('b', 41)).status).toBe(403)
    expect(await room.usage()).toMatchObject({ usedBytes: 0, chargedBytes: 60, chargedObjects: 1 })
    expect((await upload(first.json, text(60))).status).toBe(200)
    expect(await room.usage()).toMatchObject({ usedBytes: 60, chargedBytes: 60, usedObjects: 1 })
    await room.act('delete-object', { key: 'a' })
    // The URL still works, so what it may bring is still promised.
    expect(await room.usage()).toMatchObject({ usedBytes: 0, chargedBytes: 60 })
    expect((await upload(first.json, text(60))).status).toBe(200)
    expect(await room.usage()).toMatchObject({ usedBytes: 60, chargedBytes: 60 })
  })

  test('is one site’s own', async () => {
    const [full, other] = [await Room.open({ bucketBytes: 10 }), await Room.open()]
    await full.put('a', 10)
    expect((await full.put('b', 1)).status).toBe(403)
    expect((await other.put('b', 1000)).status).toBe(200)
    expect(await full.usage()).toMatchObject({ usedBytes: 10 })
  })
})

describe('upkeep', () => {
  const later = (ms: number, on: Stack = stack) =>
    startStack({ beside: on, platform: { clock: { now: () => new Date(Date.now() + ms) } } })
  const run = (on: Stack, room: Room) =>
    on.context.bucketUpkeep.run({ siteId: room.siteId }, AbortSignal.timeout(20_000))

  test('returns what was reserved for a URL that was not used', async () => {
    const room = await Room.open()
    await room.promise('a', 60, { expiresInSeconds: 60 })
    await run(stack, room)
    expect(await room.usage()).toMatchObject({ chargedBytes: 60 })
    await using tomorrow = await later(24 * HOUR_MS)
    await run(tomorrow, room)
    expect(await room.usage()).toEqual(await room.settled())
    expect(await room.usage()).toMatchObject({ chargedBytes: 0, chargedObjects: 0 })
  })

  test('keeps an object whose writer died before it was counted, and forgets one that never came', async () => {
    const dying: string[] = []
    const real = stack.context.objects
    const store: ObjectStore = {
      ...methodsOf(real),
      async put(key, body, options) {
        if (!key.endsWith('lost')) await real.put(key, body, options)
        dying.push(key)
        return new Promise<never>(() => {})
      },
    }
    await using frozen = await startStack({
      beside: stack,
      platform: { openObjects: async () => store },
    })
    const room = await Room.open({ bucketBytes: 100 })
    const there = await room.on(frozen)
    for (const key of ['kept', 'lost']) void there.put(key, 40).catch(() => {})
    await vi.waitUntil(() => dying.length === 2, { timeout: 30_000 })
    expect(await room.usage()).toMatchObject({ usedBytes: 0, chargedBytes: 80 })
    expect((await room.act('get-object', { key: 'kept' })).json.size).toBe(40)
    await using tomorrow = await later(24 * HOUR_MS)
    await run(tomorrow, room)
    expect(await room.usage()).toEqual(await room.settled())
    expect(await room.usage()).toMatchObject({ usedBytes: 40, chargedBytes: 40 })
  })

  test('counts everything again once a day, also after an interruption', async () => {
    const room = await Room.open()
    for (const key of ['a', 'b', 'c']) await room.put(key, 10)
    const { objects } = stack.context
    const prefix = `sites/${room.siteId}/buckets/${room.bucket}/`
    await objects.delete(`${prefix}a`)
    await objects.put(`${prefix}b`, Buffer.from(text(25)))
    await objects.put(`${prefix}z/new`, Buffer.from(text(5)))
    await run(stack, room)
    expect(await room.usage()).toMatchObject({ usedBytes: 30, usedObjects: 3 })
    await using tomorrow = await later(25 * HOUR_MS)
    await expect(
      tomorrow.context.bucketUpkeep.run({ siteId: room.siteId }, AbortSignal.abort()),
    ).rejects.toThrow('aborted')
    await run(tomorrow, room)
    expect(await room.usage()).toEqual(await room.settled())
    expect(await room.usage()).toMatchObject({ usedBytes: 40, usedObjects: 3 })
  })

  test('sees uploads to S3 that passed by the service', async () => {
    await using s3 = await openS3Store()
    const openObjects = async () => s3.store
    await using onS3 = await startStack({ platform: { openObjects }, sites: [] })
    const room = await Room.open({ bucketBytes: 100 }, onS3)
    const signed = await room.promise('a', 60)
    expect((await upload(signed.json, text(60))).status).toBe(200)
    expect(await room.usage()).toMatchObject({ usedBytes: 0, chargedBytes: 60 })
    await run(onS3, room)
    expect(await room.usage()).toMatchObject({ usedBytes: 60, chargedBytes: 60 })
    expect((await room.put('b', 41)).status).toBe(403)
  })
})

describe('a bucket that is deleted', () => {
  test('takes its objects along, and leaves those of others', async () => {
    const room = await Room.open()
    const other = await room.site.admin('POST', '/resources', { type: 's3Bucket', name: 'other' })
    const kept = `/resources/${other.json.resourceId}/data/s3/put-object`
    await room.site.admin('POST', kept, { key: 'kept', body: 'kept' })
    await Promise.all(Array.from({ length: 30 }, (_, n) => room.put(`deep/${n}/x`, 10)))
    expect(
      (await room.site.admin('DELETE', `/resources/${room.bucket}?confirm=true`)).json,
    ).toEqual({
      ok: true,
    })
    await vi.waitUntil(async () => (await room.stored()).usedObjects === 1, { timeout: 10_000 })
    await vi.waitUntil(async () => (await room.usage()).chargedBytes === 4, { timeout: 10_000 })
    expect(await room.usage()).toEqual(await room.settled())
    expect((await room.put('late', 1)).status).toBe(404)
  })

  test('refuses what site code that is still running puts into it', async () => {
    const room = await Room.open()
    const bucket = { siteId: room.siteId, bucketId: room.bucket, config: {} }
    await room.site.admin('DELETE', `/resources/${room.bucket}?confirm=true`)
    const put = stack.context.buckets.perform(bucket, 'put-object', { key: 'a', body: 'x' })
    await expect(put).rejects.toMatchObject({ code: 'ResourceNotFound' })
    expect(await room.stored()).toEqual({ usedBytes: 0, usedObjects: 0 })
  })

  test('is checked again when the last upload URL of its site is dead', async () => {
    const room = await Room.open()
    await stack.context.sites.delete(room.siteId)
    const late = await stack.inSite('one.test', async ({ db }) => {
      const { rows } = await sql<{ days: number }>`
        select floor(extract(epoch from start_after - now()) / 86400)::int as days
        from pgboss.job where name = 'site-cleanup' and data ->> 'siteId' = ${room.siteId}
        order by days desc`.execute(db)
      return rows
    })
    expect(late[0]?.days).toBeGreaterThanOrEqual(8)
  })

  test('is removed in as many goes as it takes', async () => {
    const room = await Room.open()
    for (const key of ['a', 'b']) await room.put(key, 10)
    const { dropBucket } = stack.context
    await dropBucket(room.siteId, room.bucket, AbortSignal.timeout(10_000))
    expect((await room.stored()).usedObjects, 'a bucket that is there is left alone').toBe(2)
    await room.site.admin('DELETE', `/resources/${room.bucket}?confirm=true`)
    await Promise.all(
      [1, 2].map(() => dropBucket(room.siteId, room.bucket, AbortSignal.timeout(10_000))),
    )
    await dropBucket(room.siteId, room.bucket, AbortSignal.timeout(10_000))
    expect(await room.usage()).toEqual(await room.settled())
    expect(await room.usage()).toMatchObject({ usedObjects: 0, chargedBytes: 0 })
  })
})

/** A class instance as a plain object, for a store that is another one in one method. */
const methodsOf = (store: ObjectStore): ObjectStore => ({
  bounds: store.bounds,
  put: (...call) => store.put(...call),
  get: (...call) => store.get(...call),
  blob: (...call) => store.blob(...call),
  head: (...call) => store.head(...call),
  delete: (...call) => store.delete(...call),
  copy: (...call) => store.copy(...call),
  list: (...call) => store.list(...call),
  presignGet: (...call) => store.presignGet(...call),
  presignPut: (...call) => store.presignPut(...call),
  ping: () => store.ping(),
  async [Symbol.asyncDispose]() {},
})
