import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'

const HOUR_MS = 3_600_000
let stack: Stack
let serial = 0
beforeAll(async () => {
  stack = await startStack({ sites: [] })
})
afterAll(() => stack[Symbol.asyncDispose]())

/** An item that counts exactly that much: 100 bytes of its own, two names of 1 byte, its key, and what is left. */
const item = (key: string, bytes: number) => ({ k: key, v: 'x'.repeat(bytes - 102 - key.length) })

/** A site with limits of its own, and one table. */
class Store {
  readonly site: RuntimeSite
  readonly siteId: string
  readonly table: string
  readonly #stack: Stack

  private constructor(on: Stack, site: RuntimeSite, siteId: string, table: string) {
    this.#stack = on
    this.site = site
    this.siteId = siteId
    this.table = table
  }

  static async open(limits: object = {}, config: object = {}): Promise<Store> {
    const site = await RuntimeSite.create(stack, `store${serial++}.test`)
    const { siteId } = await stack.context.sites.find(site.host)
    const made = await site.admin('POST', '/resources', {
      type: 'ddbTable',
      name: 'things',
      config: { partitionKey: { name: 'k', type: 'S' }, ...config },
    })
    const store = new Store(stack, site, siteId, made.json.resourceId)
    await store.allow(limits)
    return store
  }

  /** The same, through another replica. */
  async on(other: Stack): Promise<Store> {
    const site = await RuntimeSite.open(other, this.site.host)
    return new Store(other, site, this.siteId, this.table)
  }

  async allow(limits: object): Promise<void> {
    await this.#stack.context.sites.update(this.siteId, { deploymentSettings: { limits } })
  }

  act(action: string, body: object) {
    return this.site.admin('POST', `/resources/${this.table}/data/ddb/${action}`, body)
  }

  put(key: string, bytes: number) {
    return this.act('put', { item: item(key, bytes) })
  }

  delete(key: string) {
    return this.act('delete', { key: { k: key } })
  }

  async usage() {
    return (await this.site.admin('GET', '/usage')).json.tables
  }

  /** What the database holds, counted by hand. */
  async stored() {
    return this.#stack.inSite(this.site.host, async ({ db, siteId }) => {
      const { rows } = await sql<{ bytes: string; items: string }>`
        select count(*) as items, coalesce(sum(size_bytes + 100), 0) as bytes
        from table_item where site_id = ${siteId}`.execute(db)
      return { usedBytes: Number(rows[0]?.bytes), usedItems: Number(rows[0]?.items) }
    })
  }
}

const refused = (limit: object) => ({
  status: 403,
  json: { error: { code: 'QuotaExceeded', limit } },
})

describe('the quota of a site’s tables', () => {
  test('is filled to its last byte and its last item', async () => {
    const store = await Store.open({ tableBytes: 1000, tableItems: 3 })
    expect((await store.put('a', 600)).status).toBe(200)
    const over = await store.put('b', 401)
    expect(over).toMatchObject(refused({ name: 'tableBytes', value: 1000, used: 600, asked: 401 }))
    expect(over.json.error.message).toBe(
      'The tables of this site may hold 1000 bytes (limit "tableBytes"): 600 are used, and this asks for 401 more',
    )
    for (const key of ['b', 'c']) expect((await store.put(key, 200)).status).toBe(200)
    await store.allow({ tableBytes: 2000 })
    expect(await store.put('d', 200)).toMatchObject(
      refused({ name: 'tableItems', value: 3, used: 3, asked: 1 }),
    )
    expect(await store.usage()).toEqual({ usedBytes: 1000, usedItems: 3 })
    expect(await store.stored()).toEqual({ usedBytes: 1000, usedItems: 3 })
    expect((await store.site.admin('GET', '/usage')).json.limits).toMatchObject({
      tableBytes: 2000,
      tableItems: 3,
    })
  })

  test('counts what replaces by its difference, and gives back what is deleted', async () => {
    const store = await Store.open({ tableBytes: 1000 })
    await store.put('a', 900)
    expect((await store.put('a', 1000)).status).toBe(200)
    expect(await store.put('a', 1001)).toMatchObject(refused({ used: 1000, asked: 1 }))
    expect((await store.put('a', 300)).status).toBe(200)
    expect((await store.put('b', 700)).status).toBe(200)
    for (const _ of ['there', 'gone']) expect((await store.delete('a')).status).toBe(200)
    expect(await store.usage()).toEqual({ usedBytes: 700, usedItems: 1 })
    expect((await store.put('c', 300)).status).toBe(200)
    expect((await store.put('d', 200)).status).toBe(403)
    expect(await store.usage()).toEqual(await store.stored())
  })

  test('lets what is there stay, shrink and go when it is lowered', async () => {
    const store = await Store.open({ tableBytes: 1000 })
    for (const key of ['a', 'b', 'c', 'd']) await store.put(key, 250)
    await store.allow({ tableBytes: 500, tableItems: 1 })
    expect((await store.act('get', { key: { k: 'a' } })).json.item.k).toBe('a')
    expect((await store.put('e', 150)).status).toBe(403)
    expect((await store.put('a', 250)).status, 'as it was').toBe(200)
    expect((await store.put('a', 200)).status, 'smaller').toBe(200)
    const update = { key: { k: 'b' }, updateExpression: 'REMOVE v' }
    expect((await store.act('update', update)).status).toBe(200)
    expect((await store.act('batch-write', { deletes: [{ k: 'c' }] })).status).toBe(200)
    const exchange = [{ delete: { key: { k: 'a' } } }, { put: { item: item('f', 150) } }]
    expect((await store.act('transact-write', { actions: exchange })).status).toBe(200)
    expect((await store.delete('d')).status).toBe(200)
    expect(await store.usage()).toEqual({ usedBytes: 252, usedItems: 2 })
    expect(await store.usage()).toEqual(await store.stored())
  })

  test('is one site’s own', async () => {
    const [full, other] = [await Store.open({ tableBytes: 300 }), await Store.open()]
    await full.put('a', 300)
    expect((await full.put('b', 200)).status).toBe(403)
    expect((await other.put('b', 100_000)).status).toBe(200)
    expect(await full.usage()).toEqual({ usedBytes: 300, usedItems: 1 })
    expect(await other.usage()).toEqual({ usedBytes: 100_000, usedItems: 1 })
    expect((await other.site.admin('GET', '/usage')).json.limits).toMatchObject({
      tableBytes: 10 * 1024 ** 3,
      tableItems: 10_000_000,
    })
  })

  test('counts 100 bytes more for each index', async () => {
    const index = (name: string) => ({ name, partitionKey: { name: 'other', type: 'S' } })
    const store = await Store.open(
      { tableBytes: 1000 },
      { globalSecondaryIndexes: [index('one'), index('two')] },
    )
    await store.put('a', 500)
    expect(await store.put('b', 101 + 2)).toMatchObject(refused({ used: 700, asked: 303 }))
    expect(await store.usage()).toEqual({ usedBytes: 700, usedItems: 1 })
    await store.delete('a')
    await expect.poll(() => store.usage()).toEqual({ usedBytes: 0, usedItems: 0 })
  })

  test('does not count against a write what it replaces again and again', async () => {
    const store = await Store.open({ tableBytes: 4_000_000 })
    for (let n = 0; n < 60; n++) expect((await store.put('same', 200_000)).status).toBe(200)
    await expect.poll(() => store.usage()).toEqual(await store.stored())
    expect(await store.usage()).toEqual({ usedBytes: 200_000, usedItems: 1 })
  })
})

describe('a full site', () => {
  const GROWING = [
    ['put', { item: item('new', 200) }],
    ['put', { item: item('new', 200), conditionExpression: 'attribute_not_exists(k)' }],
    ['put', { item: item('old', 300), returnValues: 'ALL_OLD' }],
    [
      'update',
      {
        key: { k: 'old' },
        updateExpression: 'SET w = :w',
        expressionAttributeValues: { ':w': 'more' },
      },
    ],
    ['update', { key: { k: 'new' } }],
    ['batch-write', { puts: [item('new', 200)] }],
    ['transact-write', { actions: [{ put: { item: item('new', 200) } }] }],
  ] as const
  const CODE = `
    export default async ({ payload: { method, input } }, { table }) => {
      try {
        return await table('things')[method](input)
      } catch ({ code, statusCode, limit }) {
        return { caught: { code, statusCode, limit: limit.name } }
      }
    }`
  const BY_PRESET: Readonly<Record<string, readonly string[]>> = {
    put: ['item', 'conditionExpression', 'returnValues'],
    update: ['key', 'updateExpression', 'expressionAttributeValues'],
  }
  const METHODS: Readonly<Record<string, string>> = {
    'batch-write': 'batchWrite',
    'transact-write': 'transactWrite',
  }
  let store: Store
  beforeAll(async () => {
    store = await Store.open({ tableBytes: 200 })
    await store.put('old', 200)
    const resources = [{ resourceId: store.table, access: 'readWrite' }]
    const lambdaResourceId = await store.site.putFunction('fn', CODE, { resources })
    await store.site.putOperation('desk', { lambdaResourceId, auth: { mode: 'public' } })
    for (const [action, allowed] of Object.entries(BY_PRESET)) {
      await store.site.putOperation(`open-${action}`, {
        preset: { preset: `ddb.${action}`, resourceId: store.table, allowed },
        auth: { mode: 'public' },
      })
    }
    await store.site.synced()
  })

  test.each(GROWING)('refuses its admin to grow it: %s %j', async (action, body) => {
    expect(await store.act(action, body)).toMatchObject(refused({ name: 'tableBytes' }))
    expect(await store.stored()).toEqual({ usedBytes: 200, usedItems: 1 })
  })

  const open = GROWING.filter(([action]) => action in BY_PRESET)
  test.each(open)('refuses strangers that come by a preset: %s %j', async (action, body) => {
    expect(await store.site.call(`open-${action}`, body)).toMatchObject(
      refused({ name: 'tableBytes' }),
    )
    expect(await store.stored()).toEqual({ usedBytes: 200, usedItems: 1 })
  })

  test.each(GROWING)('tells site code why: %s %j', async (action, input) => {
    const { json } = await store.site.call('desk', { method: METHODS[action] ?? action, input })
    expect(json.data).toEqual({
      caught: { code: 'QuotaExceeded', statusCode: 403, limit: 'tableBytes' },
    })
    expect(await store.stored()).toEqual({ usedBytes: 200, usedItems: 1 })
  })
})

describe('at the edge', () => {
  test('fifty writers on two replicas get as far as it goes, and not further', async () => {
    const store = await Store.open({ tableBytes: 2000 })
    await using beside = await startStack({ beside: stack })
    const there = await store.on(beside)
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => (n % 2 ? store : there).put(`k${n}`, 160)),
    )
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(12)
    expect(statuses.filter((status) => status === 403)).toHaveLength(38)
    expect(await store.stored()).toEqual({ usedBytes: 1920, usedItems: 12 })
    await expect.poll(() => store.usage()).toEqual(await store.stored())
  })

  test('whatever two replicas do at once to the same items, the limits hold and the sums come right', async () => {
    const limits = { tableBytes: 30_000, tableItems: 20 }
    const store = await Store.open(limits)
    await using beside = await startStack({ beside: stack })
    const there = await store.on(beside)
    let most = { usedBytes: 0, usedItems: 0 }
    const watch = async () => {
      const { usedBytes, usedItems } = await store.stored()
      most = {
        usedBytes: Math.max(most.usedBytes, usedBytes),
        usedItems: Math.max(most.usedItems, usedItems),
      }
    }
    const steps = Array.from({ length: 300 }, (_, n) => async () => {
      const by = n % 2 ? store : there
      const [key, bytes] = [`k${(n * 7) % 31}`, 200 + ((n * 611) % 2500)]
      if (n % 9 === 0) await watch()
      if (n % 5 === 4) return by.delete(key)
      if (n % 5 === 3) return by.act('batch-write', { puts: [item(key, bytes), item('b', 300)] })
      if (n % 5 === 2) {
        const values = { ':v': 'x'.repeat(bytes) }
        const update = { updateExpression: 'SET v = :v', expressionAttributeValues: values }
        return by.act('update', { key: { k: key }, ...update })
      }
      return by.put(key, bytes)
    })
    const waiting = [...steps]
    const answers: number[] = []
    const work = async () => {
      for (let step = waiting.shift(); step; step = waiting.shift()) {
        answers.push((await step()).status)
      }
    }
    await Promise.all(Array.from({ length: 12 }, work))
    expect(new Set(answers)).toEqual(new Set([200, 403]))
    expect(most.usedBytes).toBeGreaterThan(20_000)
    expect(most.usedBytes).toBeLessThanOrEqual(limits.tableBytes)
    expect(most.usedItems).toBeLessThanOrEqual(limits.tableItems)
    await expect.poll(() => store.usage()).toEqual(await store.stored())
  })
})

describe('the account of a site', () => {
  /** In one snapshot. */
  const compare = (store: Store) =>
    stack.inSite(store.site.host, async ({ db, siteId }) => {
      const { rows } = await sql<{ bytes: number; items: number; stored: number; there: number }>`
        select (select coalesce(sum(size_bytes + 100), 0)::int from table_item where site_id = ${siteId}) as stored,
               (select count(*)::int from table_item where site_id = ${siteId}) as there,
               (select coalesce(sum(bytes), 0)::int from table_room where site_id = ${siteId})
                 + (select coalesce(sum(used_bytes), 0)::int from table_usage where site_id = ${siteId}) as bytes,
               (select coalesce(sum(items), 0)::int from table_room where site_id = ${siteId})
                 + (select coalesce(sum(used_items), 0)::int from table_usage where site_id = ${siteId}) as items`.execute(
        db,
      )
      return rows[0] ?? { bytes: 0, items: 0, stored: 0, there: 0 }
    })

  test('is settled when a replica stops, whatever the account of another site waits for', async () => {
    const [stuck, store] = [await Store.open(), await Store.open()]
    const beside = await startStack({ beside: stack, works: false })
    for (const each of [stuck, store]) await (await each.on(beside)).put('a', 300)
    const stopped = await asSuperuser(stack, (sql) =>
      sql.begin(async (holding) => {
        const { siteId } = stuck
        const rooms = (site: Store) =>
          holding`select bytes from table_room where site_id = ${site.siteId}`
        await holding`select 1 from table_usage where site_id = ${siteId} for update`
        expect(await rooms(store)).toHaveLength(1)
        const stopping = beside[Symbol.asyncDispose]()
        await expect.poll(() => rooms(store)).toHaveLength(0)
        expect(await rooms(stuck)).toHaveLength(1)
        return { stopping }
      }),
    )
    await stopped.stopping
    for (const each of [stuck, store]) {
      expect(await compare(each)).toEqual({ bytes: 300, items: 1, stored: 300, there: 1 })
    }
  })

  test.each([
    ['far from its limits', { tableBytes: 8_000_000, tableItems: 2000 }],
    ['close to them', { tableBytes: 60_000, tableItems: 60 }],
  ])(
    'never says less than what is stored, with any mix of writes and counts: %s',
    async (_where, limits) => {
      const store = await Store.open(limits)
      await using beside = await startStack({ beside: stack, works: false })
      const there = await store.on(beside)
      let writing = true
      const least = { bytes: Infinity, items: Infinity }
      const watch = async () => {
        while (writing) {
          const seen = await compare(store)
          least.bytes = Math.min(least.bytes, seen.bytes - seen.stored)
          least.items = Math.min(least.items, seen.items - seen.there)
        }
      }
      const work = async (worker: number) => {
        const by = worker % 2 ? store : there
        const context = worker % 2 ? stack.context : beside.context
        for (let n = worker; n < 120; n += 8) {
          const key = `k${(n * 7) % 40}`
          if (n % 4 === 3) await by.delete(key)
          else await by.put(key, 200 + ((n * 611) % 2500))
          if (n % 3 === 0) await context.tableQuotas.usage(store.siteId)
          if (n % 10 === 0)
            await context.tableQuotas.recount(store.siteId, AbortSignal.timeout(9000))
        }
      }
      const watching = watch()
      await Promise.all([...Array(8).keys()].map(work))
      writing = false
      await watching
      expect(least.bytes).toBeGreaterThanOrEqual(0)
      expect(least.items).toBeGreaterThanOrEqual(0)
      await expect.poll(() => store.usage()).toEqual(await store.stored())
    },
  )
})

describe('room', () => {
  /** What the account says is taken: used, and held by processes. */
  const rooms = (store: Store) =>
    stack.inSite(store.site.host, async ({ db, siteId }) => {
      const { rows } = await sql<{ holder: string; items: string }>`
        select holder, items from table_room where site_id = ${siteId}`.execute(db)
      return rows
    })

  test('is taken for many writes at once, and handed back when the process ends', async () => {
    const store = await Store.open()
    {
      await using beside = await startStack({ beside: stack })
      const there = await store.on(beside)
      for (let n = 0; n < 20; n++) await there.put(`k${n}`, 200)
      const [room] = await rooms(store)
      expect(Number(room?.items)).toBeGreaterThanOrEqual(1000)
    }
    expect(await rooms(store)).toEqual([])
    expect(await store.usage()).toEqual({ usedBytes: 4000, usedItems: 20 })
  })

  test('that a dead process held comes back to the others', async () => {
    const store = await Store.open({ tableItems: 4 })
    await store.put('a', 200)
    await store.usage()
    await stack.inSite(store.site.host, ({ db, siteId }) =>
      sql`insert into table_room (site_id, holder, bytes, items, renewed_at)
          values (${siteId}, 'dead', 1000, 3, now() - interval '3 minutes')`.execute(db),
    )
    // What the dead one held may be stored, until it is counted again: not at once, when counting took long.
    const put = async (key: string) => (await store.put(key, 200)).status
    await expect.poll(() => put('b')).toBe(200)
    for (const key of ['c', 'd']) expect(await put(key)).toBe(200)
    expect(await put('e')).toBe(403)
    expect(await rooms(store)).toEqual([])
  })

  test('that a living process holds is not given twice', async () => {
    const store = await Store.open({ tableItems: 4 })
    await stack.inSite(store.site.host, ({ db, siteId }) =>
      sql`with made as (insert into table_usage (site_id) values (${siteId}) returning site_id)
          insert into table_room (site_id, holder, bytes, items, renewed_at)
          select site_id, 'alive', 1000, 3, now() from made`.execute(db),
    )
    expect((await store.put('a', 200)).status).toBe(200)
    expect(await store.put('b', 200)).toMatchObject(refused({ value: 4, used: 4, asked: 1 }))
  })
})

describe('a count that takes long', () => {
  test('is an error close to a limit, with when to retry, and delays no other', async () => {
    const store = await Store.open({ tableItems: 3 })
    const neighbour = await Store.open()
    for (const key of ['a', 'b', 'c']) expect((await store.put(key, 200)).status).toBe(200)
    // Gone without a writer that would have reported: only a count finds the room.
    await stack.inSite(store.site.host, (tx) =>
      sql`delete from table_item where site_id = ${tx.siteId} and partition_hash in (
        select partition_hash from table_item where site_id = ${tx.siteId} limit 1)`.execute(tx.db),
    )
    await using count = await heldCount()
    const waiting = store.put('d', 200)
    expect((await neighbour.put('a', 200)).status).toBe(200)
    expect(await waiting).toMatchObject({
      status: 503,
      headers: { 'retry-after': '5' },
      json: { error: { code: 'ServiceUnavailable' } },
    })
    expect((await store.act('get', { key: { k: 'd' } })).json).toEqual({ item: null })
    expect((await store.delete('a')).status).toBe(200)
    await count.release()
    await expect.poll(async () => (await store.put('d', 200)).status).toBe(200)
    await expect.poll(() => store.usage()).toEqual(await store.stored())
  })
})

describe('what goes away by itself', () => {
  test('is given back: a deleted table', async () => {
    const store = await Store.open({ tableBytes: 1000 })
    await store.put('a', 1000)
    const next = await store.site.admin('POST', '/resources', {
      type: 'ddbTable',
      name: 'next',
      config: { partitionKey: { name: 'k', type: 'S' } },
    })
    const put = () =>
      store.site.admin('POST', `/resources/${next.json.resourceId}/data/ddb/put`, {
        item: item('a', 1000),
      })
    expect((await put()).status).toBe(403)
    await store.site.admin('DELETE', `/resources/${store.table}?confirm=true`)
    await expect.poll(() => store.usage()).toEqual({ usedBytes: 0, usedItems: 0 })
    expect((await put()).status).toBe(200)
  })

  test('is given back: an item that ended', async () => {
    const store = await Store.open({ tableItems: 1 }, { ttlAttribute: 'ends' })
    await store.act('put', { item: { k: 'a', ends: Math.floor(Date.now() / 1000) + 3600 } })
    expect(await store.usage()).toMatchObject({ usedItems: 1 })
    await using later = await startStack({
      beside: stack,
      works: false,
      platform: { clock: { now: () => new Date(Date.now() + 2 * HOUR_MS) } },
    })
    const there = await store.on(later)
    const table = { siteId: store.siteId, resourceId: store.table }
    await later.context.tableBuilds.run(table, AbortSignal.timeout(10_000))
    expect((await there.put('b', 200)).status).toBe(200)
    expect(await store.stored()).toEqual({ usedBytes: 200, usedItems: 1 })
    expect((await there.put('c', 200)).status).toBe(403)
  })

  test('is counted in as many steps as it takes, also after an interruption', async () => {
    const store = await Store.open()
    for (let n = 0; n < 3; n++) await store.put(`k${n}`, 200)
    await store.usage()
    await stack.inSite(store.site.host, async ({ db, siteId }) => {
      await sql`insert into table_item (site_id, table_id, partition_hash, sort_key, size_bytes, body)
        select ${siteId}, ${store.table}, sha256(n::text::bytea), '', 50, '{}'
        from generate_series(1, 12000) n`.execute(db)
      await sql`update table_usage set changed_at = now() where site_id = ${siteId}`.execute(db)
    })
    const { tableQuotas } = stack.context
    await expect(tableQuotas.recount(store.siteId, AbortSignal.abort())).rejects.toThrow('aborted')
    await tableQuotas.recount(store.siteId, AbortSignal.timeout(10_000))
    expect(await store.usage()).toEqual({ usedBytes: 600 + 12_000 * 150, usedItems: 12_003 })
    expect(await store.usage()).toEqual(await store.stored())
  })

  test('is counted again a day after something was written', async () => {
    const store = await Store.open()
    await store.put('a', 200)
    for (let n = 0; n < 2; n++) await store.usage()
    const queued = await stack.inSite(store.site.host, async ({ db, siteId }) => {
      const { rows } = await sql<{ hours: number }>`
        select round(extract(epoch from start_after - now()) / 3600)::int as hours
        from pgboss.job where name = 'table-recount' and data ->> 'siteId' = ${siteId}`.execute(db)
      return rows
    })
    expect(queued).toEqual([{ hours: 24 }])
  })
})

/** Makes every count of items wait until `release`. */
async function heldCount() {
  const { promise: free, resolve } = Promise.withResolvers<void>()
  const { promise: held, resolve: holding } = Promise.withResolvers<void>()
  const over = asSuperuser(stack, async (admin) => {
    await admin`alter function table_count_step(text, integer) rename to table_count_step_at_once`
    await admin`create function table_count_step(site text, most integer) returns boolean
      language plpgsql as $$ begin
        perform pg_advisory_xact_lock_shared(4711);
        return table_count_step_at_once(site, most);
      end $$`
    await admin.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(4711)`
      holding()
      await free
    })
  })
  await Promise.race([held, over])
  const release = async () => {
    resolve()
    await over
  }
  return { release, [Symbol.asyncDispose]: release }
}
