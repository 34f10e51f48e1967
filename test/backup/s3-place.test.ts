import { randomBytes } from 'node:crypto'

import { afterAll, beforeAll, expect, test } from 'vitest'

import type { BackUpDeps } from '#platform/backup/back-up.ts'
import { HoldWatch } from '#platform/backup/hold-watch.ts'
import { listBackups, readManifest } from '#platform/backup/manifest.ts'
import { openBackupPlace, S3Place } from '#platform/backup/open-place.ts'
import { verifyBackup } from '#platform/backup/verify-backup.ts'
import { KeepingObjectStore } from '#platform/objects/kept-objects.ts'
import type { ObjectStore } from '#platform/objects/object-store.ts'
import { connectPostgres } from '#platform/postgres/postgres.ts'
import { type Places, backUpOf, emptyPlaces, objectsOf, restoreInto } from '#test/backups.ts'
import { type OpenS3Store, openS3Store } from '#test/object-stores.ts'
import { cloneDatabase } from '#test/postgres.ts'
import { silentLog } from '#test/silent-log.ts'

const PREFIX = 'sites/one/buckets/b/'
const LONG = randomBytes(5_000_000)

let cleanUp: AsyncDisposableStack
let s3: OpenS3Store
/** The store of a service beside the backup. */
let service: ObjectStore
let source: Places
let place: S3Place
beforeAll(async () => {
  cleanUp = new AsyncDisposableStack()
  s3 = cleanUp.use(await openS3Store())
  const database = cleanUp.use(await cloneDatabase())
  source = { database, dataDir: '', masterKey: randomBytes(32) }
  place = new S3Place(s3.store, { bucket: 'croft', prefix: 'nightly/croft' })
  const { statements } = cleanUp.use(
    await connectPostgres({ url: database.url, log: silentLog, poolSize: 1 }),
  )
  service = new KeepingObjectStore(s3.store, new HoldWatch(statements))
})
afterAll(() => cleanUp.disposeAsync())

/** The objects in S3; `before` runs when they are about to be read. */
function objectsAfter(before: () => Promise<unknown>): BackUpDeps['objects'] {
  let isFirst = true
  return {
    list: async (options) => {
      if (isFirst) await before()
      isFirst = false
      return s3.store.list(options)
    },
    get: (...call) => s3.store.get(...call),
    delete: (...call) => s3.store.delete(...call),
  }
}

async function textOf(objects: ObjectStore, key: string): Promise<string | undefined> {
  const found = await objects.get(PREFIX + key)
  return found && new Response(found.body).text()
}

test('a backup of objects in S3, to S3, has what was there at its moment, and is restored into files', async () => {
  const described = { contentType: 'text/plain', metadata: { of: 'old' } }
  for (const key of ['a ☃?&+', 'replaced', 'streamed', 'deleted']) {
    await service.put(PREFIX + key, Buffer.from(`${key} as it was`), described)
  }
  await service.put(`${PREFIX}long`, LONG)
  const objects = objectsAfter(async () => {
    await service.put(`${PREFIX}replaced`, Buffer.from('new'))
    await service.put(`${PREFIX}replaced`, Buffer.from('newer'))
    await service.put(`${PREFIX}streamed`, new Blob(['new']).stream())
    await service.delete(`${PREFIX}deleted`)
  })
  const manifest = await backUpOf(source, place, { objects })
  expect(manifest.kept.count).toBe(3)
  expect(await listBackups(place)).toEqual([manifest.id])
  const opened = await readManifest(place, undefined)
  expect(await verifyBackup(place, opened.manifest, () => {})).toEqual([])
  expect((await s3.store.list({ prefix: 'kept/', maxKeys: 9 })).objects).toEqual([])

  const into = await emptyPlaces(cleanUp, source.masterKey)
  await restoreInto(into, place)
  const restored = await objectsOf(into)
  for (const key of ['a ☃?&+', 'replaced', 'streamed', 'deleted']) {
    expect(await textOf(restored, key)).toBe(`${key} as it was`)
    expect(await restored.head(PREFIX + key)).toMatchObject(described)
  }
  const long = await restored.get(`${PREFIX}long`)
  expect(Buffer.from(await new Response(long?.body).arrayBuffer()).equals(LONG)).toBe(true)

  const again = await backUpOf(source, place, { objects: s3.store })
  expect(again.objects.count).toBe(4)
  expect(again.sent.bytes, 'what was replaced, and the list').toBeLessThan(10_000)
})

test.each(['s3://croft/sites', 's3://croft/kept/x', 's3://croft/a b', 's3://x', 'gs://croft/x'])(
  'the address %s is refused',
  async (address) => {
    const opened = openBackupPlace(address, 'write', {
      env: { s3: undefined },
      config: { s3: undefined },
      secrets: { s3AccessKeyId: undefined, s3SecretAccessKey: undefined },
      logger: silentLog,
    })
    await expect(opened).rejects.toThrow('is no place for backups')
  },
)
