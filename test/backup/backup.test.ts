import { randomBytes } from 'node:crypto'

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { rawKey } from '#mail/objects/mail-keys.ts'
import type { BackUpDeps } from '#platform/backup/back-up.ts'
import { FolderPlace } from '#platform/backup/folder-place.ts'
import { type Manifest, listBackups, readManifest } from '#platform/backup/manifest.ts'
import { pruneBackups } from '#platform/backup/prune-backups.ts'
import { verifyBackup } from '#platform/backup/verify-backup.ts'
import { storeKeyOf } from '#runtime/buckets/store-key.ts'
import { AdminPool, type Member } from '#test/admin-api.ts'
import { backUpOf, emptyPlaces, objectsOf, restoreInto } from '#test/backups.ts'
import { type StoredMail, storeMail } from '#test/mail-rows.ts'
import { asAdmin } from '#test/postgres.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { SiteTable } from '#test/site-table.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { temporaryFolder } from '#test/temporary-folder.ts'

const BOX = 'info@one.test'
/** More than one piece. */
const LONG = randomBytes(3_500_000).toString('base64')

let cleanUp: AsyncDisposableStack
let stack: Stack
let restored: Stack
let place: FolderPlace
let site: RuntimeSite
let table: SiteTable
let bucket: string
let ann: Member
let first: Manifest
let kept: StoredMail
let purged: StoredMail
/** Ids of items, and when their writes were acknowledged. */
const ledger = new Map<string, number>()
const changes: Change[] = []

interface Change {
  readonly key: string
  /** Undefined for a deletion. */
  readonly value: string | undefined
  readonly begunMs: number
  readonly doneMs: number
}

const objectPath = (action: string) => `/resources/${bucket}/data/s3/${action}`
const putObject = (key: string, body: string, on = site) =>
  on.admin('POST', objectPath('put-object'), { key, body })
const getObject = async (key: string, on = site) =>
  (await on.admin('POST', objectPath('get-object'), { key })).json.body

async function furnish(): Promise<void> {
  site = await RuntimeSite.open(stack, 'one.test')
  table = await SiteTable.create(site, 'things', { partitionKey: { name: 'id', type: 'S' } })
  const made = await site.admin('POST', '/resources', { type: 's3Bucket', name: 'files' })
  bucket = made.json.resourceId
  await putObject('replaced', 'as it was')
  await putObject('deleted', 'as it was')
  await putObject('long', LONG)
  await putObject('ein Name/../mit ☃', '')
  await site.admin('POST', '/groups', { groupName: 'staff' })
  await stack.dataToken('two.test', { user: 'vic@example.test' })
  const pool = new AdminPool(stack, 'one.test')
  ann = await pool.first()
  await pool.joined('admin')
  await ann.call('POST', '/mailboxes', { body: { address: BOX, owners: [ann.userId] } })
  kept = await storeMail(stack, { mailbox: BOX, subject: 'kept', text: 'a\tb\\n' })
  purged = await storeMail(stack, { mailbox: BOX, subject: 'purged' })
}

/** What a site does between the snapshot of the rows and the reading of the objects. */
async function changeObjects(): Promise<void> {
  await ann.call('POST', `/messages/${purged.messageId}/purge`)
  await putObject('replaced', 'as it is now')
  await site.admin('POST', objectPath('delete-object'), { key: 'deleted' })
  const { siteId } = await stack.context.sites.find('one.test')
  const isThere = () => stack.context.objects.head(rawKey(siteId, purged.rawId))
  await vi.waitUntil(async () => (await isThere()) === undefined, { timeout: 20_000, interval: 20 })
}

/** The store of the service; `before` runs when its objects are about to be read. */
async function objectsAfter(before: () => Promise<void>): Promise<BackUpDeps['objects']> {
  const objects = await objectsOf(stack)
  let isFirst = true
  return {
    list: async (options) => {
      if (isFirst) await before()
      isFirst = false
      return objects.list(options)
    },
    get: (...call) => objects.get(...call),
    delete: (...call) => objects.delete(...call),
  }
}

/** Puts items until it is stopped, and notes each when it is acknowledged. */
async function writeItems(isOver: () => boolean, worker: number): Promise<void> {
  for (let at = 0; !isOver(); at++) {
    const id = `${worker}-${at}`
    await table.do('put', { item: { id, at, text: `line\t${at}\n\\.` } })
    ledger.set(id, Date.now())
  }
}

/** Writes and deletes a few objects again and again, and notes what was acknowledged between which times. */
async function changeSomeObjects(isOver: () => boolean): Promise<void> {
  for (let at = 0; !isOver(); at++) {
    const key = `busy-${at % 5}`
    const value = at % 3 === 0 ? undefined : String(at)
    const begunMs = Date.now()
    if (value === undefined) await site.admin('POST', objectPath('delete-object'), { key })
    else await putObject(key, value)
    changes.push({ key, value, begunMs, doneMs: Date.now() })
  }
}

async function backUpUnderLoad(): Promise<Manifest> {
  let isOver = false
  const writers = [1, 2, 3].map((worker) => writeItems(() => isOver, worker))
  writers.push(changeSomeObjects(() => isOver))
  const objects = await objectsAfter(changeObjects)
  try {
    return await backUpOf(stack, place, { objects })
  } finally {
    isOver = true
    await Promise.all(writers)
  }
}

beforeAll(async () => {
  cleanUp = new AsyncDisposableStack()
  stack = cleanUp.use(await startStack())
  place = await FolderPlace.open(await temporaryFolder(cleanUp, 'croft-backups-'), 'write')
  await furnish()
  first = await backUpUnderLoad()
  const places = await emptyPlaces(cleanUp, stack.masterKey)
  await restoreInto(places, place)
  restored = cleanUp.use(await startStack({ beside: { ...places, port: stack.port } }))
})
afterAll(() => cleanUp.disposeAsync())

describe('a backup of a service under load, restored elsewhere', () => {
  test('has every item that was acknowledged before its moment, and each of them whole', async () => {
    const moment = Date.parse(first.moment)
    const there = new Map<string, unknown>()
    for (let key: unknown = null; key !== undefined;) {
      const scan = await tableOn(restored, { ...(key !== null && { exclusiveStartKey: key }) })
      for (const item of scan.items) there.set(item.id, item)
      key = scan.lastEvaluatedKey ?? undefined
    }
    const before = [...ledger].filter(([, at]) => at < moment).map(([id]) => id)
    expect(before.length).toBeGreaterThan(20)
    expect(ledger.size, 'writes went on').toBeGreaterThan(before.length + 20)
    expect(before.filter((id) => !there.has(id))).toEqual([])
    for (const [id, item] of there) {
      const at = Number(id.split('-')[1])
      expect(item).toEqual({ id, at, text: `line\t${at}\n\\.` })
    }
  })

  test('has objects as they were at its moment, whatever became of them', async () => {
    const there = await RuntimeSite.open(restored, 'one.test')
    expect(await getObject('replaced')).toBe('as it is now')
    expect(await getObject('deleted')).toBeUndefined()
    expect(await getObject('replaced', there)).toBe('as it was')
    expect(await getObject('deleted', there)).toBe('as it was')
    expect(await getObject('ein Name/../mit ☃', there)).toBe('')
    const { siteId } = await restored.context.sites.find('one.test')
    const key = storeKeyOf({ siteId, bucketId: bucket, key: 'long' })
    const stored = await restored.context.objects.get(key)
    expect(await new Response(stored?.body).text()).toBe(LONG)
    expect(stored?.head.contentType).toBe((await stack.context.objects.head(key))?.contentType)
  })

  test('has objects that are written all the time as they were last acknowledged before its moment', async () => {
    const there = await RuntimeSite.open(restored, 'one.test')
    const moment = Date.parse(first.moment)
    for (const key of new Set(changes.map((change) => change.key))) {
      const all = changes.filter((change) => change.key === key)
      const done = all.findLast(({ doneMs }) => doneMs < moment)
      const underWay = all.find(({ begunMs, doneMs }) => begunMs <= moment && doneMs >= moment)
      const later = all.filter(({ begunMs }) => begunMs > moment)
      expect(later.length, 'it was written on').toBeGreaterThan(3)
      const states = underWay === undefined ? [done?.value] : [done?.value, underWay.value]
      // What is new since may be there: nothing was replaced or deleted for it.
      const allowed = states.includes(undefined)
        ? [...states, ...later.map(({ value }) => value)]
        : states
      expect(allowed, key).toContain(await getObject(key, there))
    }
  })

  test('has mail with its bytes, also what was purged behind its moment', async () => {
    for (const { messageId, raw } of [kept, purged]) {
      const path = `/admin/api/messages/${messageId}`
      const { json } = await restored.call('one.test', 'GET', path, { token: ann.token })
      const { pathname, search } = new URL(json.rawUrl)
      const answer = await restored.call('one.test', 'GET', pathname + search)
      expect([answer.status, answer.text]).toEqual([200, raw])
    }
    expect((await ann.call('GET', `/messages/${purged.messageId}`)).status).toBe(404)
  })

  test('has users, groups and keys: tokens of the other one are valid', async () => {
    for (const path of ['/admin/api/users', '/admin/data/groups', '/admin/data/resources']) {
      const options = { token: ann.token }
      const theirs = await stack.call('one.test', 'GET', path, options)
      const ours = await restored.call('one.test', 'GET', path, options)
      expect(theirs.status, path).toBe(200)
      expect(ours.json, path).toEqual(theirs.json)
    }
    expect(await restored.dataToken('two.test', { user: 'vic@example.test' })).toContain('.')
  })

  test('works on: it takes writes, numbers and jobs of its own', async () => {
    const there = await RuntimeSite.open(restored, 'one.test')
    await table.seenBy(there).do('put', { item: { id: 'new' } })
    await there.admin('POST', '/groups', { groupName: 'later' })
    await there.synced()
    expect((await putObject('new', 'x', there)).status).toBe(200)
  })

  test('is known as the last one, for metrics', async () => {
    expect(await stack.context.lastBackup()).toEqual(new Date(first.moment))
    expect(await restored.context.lastBackup()).toBeUndefined()
  })

  test('keeps nothing for it any more', async () => {
    const { objects: left } = await (await objectsOf(stack)).list({ prefix: 'kept/', maxKeys: 10 })
    expect(left).toEqual([])
    await asAdmin(async (admin) => {
      expect(await admin`select * from backup_hold`).toHaveLength(0)
    }, stack.database.url)
  })
})

describe('a second backup', () => {
  test('sends what changed, and no more', async () => {
    const settled = await backUpOf(stack, place)
    const same = await backUpOf(stack, place)
    expect(settled.sent.bytes, 'the object that was replaced, and items').toBeGreaterThan(0)
    expect(settled.sent.bytes).toBeLessThan(LONG.length / 4)
    await putObject('added', 'x'.repeat(10_000))
    const more = await backUpOf(stack, place)
    expect(same.objects).toEqual(settled.objects)
    expect(more.objects.count).toBe(same.objects.count + 1)
    expect(more.sent.bytes).toBeGreaterThan(10_000)
    expect(more.sent.bytes).toBeLessThan(10_000 + 64 * 1024)
    expect(await listBackups(place)).toEqual([first, settled, same, more].map(({ id }) => id))
  })
})

describe('pruning', () => {
  test('leaves the newest ones whole, and not a part that these do not need', async () => {
    const ids = await listBackups(place)
    const pruned = await pruneBackups(place, 2, () => {})
    expect(pruned).toMatchObject({ deleted: ids.slice(0, -2), left: ids.slice(-2) })
    expect(pruned.chunks, 'what was replaced since the first one').toBeGreaterThan(0)
    for (const id of pruned.left) {
      const { manifest } = await readManifest(place, id)
      expect(await verifyBackup(place, manifest, () => {})).toEqual([])
    }
    expect(await listBackups(place)).toEqual(pruned.left)
    expect(await pruneBackups(place, 2, () => {})).toMatchObject({ deleted: [], chunks: 0 })
  })

  test('touches nothing where a backup that stays cannot be read', async () => {
    const [first = '', last = ''] = await listBackups(place)
    const name = `manifests/${last}.json`
    const text = String(await place.read(name))
    await place.write(name, Buffer.from(text.replace('moment', 'momenx')))
    await expect(pruneBackups(place, 1, () => {})).rejects.toThrow('has been changed')
    expect(await listBackups(place)).toEqual([first, last])
    await place.write(name, Buffer.from(text))
  })
})

/** A page of the items of the table. */
async function tableOn(on: Stack, body: object) {
  return table.seenBy(await RuntimeSite.open(on, 'one.test')).do('scan', body)
}
