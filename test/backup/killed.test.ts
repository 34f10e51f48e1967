import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'

import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { installRoot } from '#config/install-root.ts'
import { chunkName } from '#platform/backup/chunks.ts'
import { FolderPlace } from '#platform/backup/folder-place.ts'
import {
  type Manifest,
  listBackups,
  readManifest,
  writeManifest,
} from '#platform/backup/manifest.ts'
import { verifyBackup } from '#platform/backup/verify-backup.ts'
import { Sealer } from '#platform/seal/sealer.ts'
import { type Places, backUpOf, emptyPlaces, objectsOf, restoreInto } from '#test/backups.ts'
import { asAdmin, cloneDatabase, emptyDatabase } from '#test/postgres.ts'
import { temporaryFolder } from '#test/temporary-folder.ts'

const POLLING = { timeout: 30_000, interval: 10 }
const SITES = 50

let cleanUp: AsyncDisposableStack
let source: Places
let place: FolderPlace
let manifest: Manifest

const folder = async () =>
  FolderPlace.open(await temporaryFolder(cleanUp, 'croft-backups-'), 'write')
const emptyOnes = () => emptyPlaces(cleanUp, source.masterKey)
/** Without a table. */
const bareOnes = (masterKey = source.masterKey) => emptyPlaces(cleanUp, masterKey, emptyDatabase)
const keyOf = (places: Places) => new Sealer(places.masterKey).derive('backup')

async function withSites(): Promise<Places> {
  const places = {
    database: cleanUp.use(await cloneDatabase()),
    dataDir: await temporaryFolder(cleanUp, 'croft-source-'),
    masterKey: randomBytes(32),
  }
  await asAdmin(async (admin) => {
    await admin`
      insert into site (site_id, domain, region, source_mode, repo, deployment_settings)
      select 'site_' || at, at || '.test', 'local', 'EXTERNAL_REPO', '{}', '{}'
      from generate_series(1, ${SITES}) at`
    await admin`insert into site_key select site_id, 'x' from site`
  }, places.database.url)
  const objects = await objectsOf(places)
  for (let at = 1; at <= 3; at++) await objects.put(`sites/site_${at}/o`, Buffer.from(`${at}`))
  return places
}

async function sitesIn(places: Places): Promise<number> {
  let count = 0
  await asAdmin(async (admin) => {
    const [row] = await admin<{ count: number }[]>`select count(*)::int as count from site`
    count = row?.count ?? 0
  }, places.database.url)
  return count
}

beforeAll(async () => {
  cleanUp = new AsyncDisposableStack()
  source = await withSites()
  place = await folder()
  manifest = await backUpOf(source, place)
})
afterAll(() => cleanUp.disposeAsync())

/** The real program on these places. */
function croft(args: readonly string[], places: Places): ChildProcess {
  return spawn(process.execPath, [join(installRoot(), 'bin/croft.js'), ...args, '--json'], {
    env: {
      PATH: process.env['PATH'] ?? '',
      DATABASE_URL: places.database.url,
      CROFT_DATA_DIR: places.dataDir,
      CROFT_MASTER_KEY: places.masterKey.toString('base64'),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

async function ended(child: ChildProcess) {
  let [out, err] = ['', '']
  child.stdout?.on('data', (text) => (out += String(text)))
  child.stderr?.on('data', (text) => (err += String(text)))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(err)
  return JSON.parse(out)
}

/** Kills the program when it waits for a lock that is held from outside. */
async function killAtLock(
  args: readonly string[],
  places: Places,
  lock: string,
  before: () => Promise<void> = async () => {},
): Promise<void> {
  const holder = postgres(places.database.url, { max: 2, connection: { application_name: 'test' } })
  try {
    await holder.begin(async (tx) => {
      await tx.unsafe(lock)
      const child = croft(args, places)
      const waits = () => holder`
        select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`
      await vi.waitUntil(async () => (await waits()).length > 0, POLLING)
      await before()
      child.kill('SIGKILL')
      await once(child, 'close')
    })
  } finally {
    await holder.end()
  }
}

describe('a backup that is killed', () => {
  test('is none, and the next one goes on with what it has sent', async () => {
    const to = await folder()
    const args = ['backup', '--to', to.address]
    await killAtLock(args, source, 'lock table user_pool', async () => {
      await expect(backUpOf(source, to)).rejects.toThrow(/Another backup writes into .*process \d/)
    })
    expect(await listBackups(to)).toEqual([])
    const sent: string[] = []
    for await (const name of to.list('chunks')) sent.push(name)
    expect(sent.length).toBeGreaterThan(0)
    const { id, sent: rest } = await ended(croft(args, source))
    const all: string[] = []
    for await (const name of to.list('chunks')) all.push(name)
    expect(all).toEqual(expect.arrayContaining(sent))
    expect(rest.chunks).toBe(all.length - sent.length)
    const list = await ended(croft(['backup', 'list', '--from', to.address], source))
    expect(list).toMatchObject([{ id, objects: 3 }])
    const verified = await ended(croft(['backup', 'verify', '--from', to.address], source))
    expect(verified).toMatchObject({ id, isSigned: true, faults: [] })
  })
})

describe('a restore that is killed', () => {
  test('leaves an empty installation, and the next one makes it whole', async () => {
    const places = await emptyOnes()
    const args = ['restore', '--from', place.address]
    await killAtLock(args, places, 'lock table site in share mode')
    expect(await sitesIn(places)).toBe(0)
    expect(await ended(croft(args, places))).toMatchObject({ id: manifest.id })
    expect(await sitesIn(places)).toBe(SITES)
    const objects = await objectsOf(places)
    const { objects: listed } = await objects.list({ prefix: '', maxKeys: 10 })
    expect(listed.map(({ key }) => key)).toEqual([1, 2, 3].map((at) => `sites/site_${at}/o`))
    await expect(restoreInto(places, place)).rejects.toThrow(`not empty, it has ${SITES} sites`)
  })
})

describe('verifying', () => {
  test('finds a byte that is another, and a part that is gone', async () => {
    const { manifest: written } = await readManifest(place, manifest.id)
    expect(await verifyBackup(place, written, () => {})).toEqual([])
    const sha256 = written.tables.find(({ name }) => name === 'site')?.chunks[0] ?? ''
    const name = chunkName({ sha256, form: 'packed' })
    const bytes = (await place.read(name)) ?? Buffer.alloc(0)
    const changed = Buffer.from(bytes)
    changed.writeUInt8(changed.readUInt8(9) ^ 1, 9)
    for (const spoiled of [changed, bytes.subarray(0, -1), Buffer.alloc(0)]) {
      await place.write(name, spoiled)
      const faults = await verifyBackup(place, written, () => {})
      expect(faults.join()).toContain(`"${name}" of the backup has been changed`)
    }
    await place.delete(name)
    const faults = await verifyBackup(place, written, () => {})
    expect(faults.join()).toContain(`"${name}" of the backup is missing`)
    await place.write(name, bytes)
    expect(await verifyBackup(place, written, () => {})).toEqual([])
  })
})

describe('a restore refuses', () => {
  /** Another manifest of the same id for the same parts; the result of restoring it. */
  async function restoring(change: Partial<Manifest>, key = keyOf(source)): Promise<Places> {
    const places = await emptyOnes()
    await writeManifest(place, { ...manifest, ...change }, key)
    try {
      await restoreInto(places, place)
      return places
    } finally {
      await writeManifest(place, manifest, keyOf(source))
    }
  }

  test('a key that is another, before it writes anything', async () => {
    const places = await bareOnes(randomBytes(32))
    await expect(restoreInto(places, place)).rejects.toThrow('The master key is not that of')
    await asAdmin(async (admin) => {
      expect(await admin`select 1 from pg_tables where schemaname = 'public'`).toHaveLength(0)
    }, places.database.url)
  })

  test('a manifest that was written without the key, or changed', async () => {
    const stranger = new Sealer(randomBytes(32)).derive('backup')
    await expect(restoring({ tables: [] }, stranger)).rejects.toThrow('has been changed')
    const name = `manifests/${manifest.id}.json`
    const text = String(await place.read(name))
    await place.write(name, Buffer.from(text.replace('site_key', 'site_kex')))
    await expect(readManifest(place, manifest.id)).rejects.toThrow('has been changed')
    await place.write(name, Buffer.from(text))
  })

  test('a newer schema, and a newer form', async () => {
    const newer = { name: '9999_newer.sql', sha256: 'x' }
    const migrations = [...manifest.migrations, newer]
    await expect(restoring({ migrations })).rejects.toThrow('has the migration "9999_newer.sql"')
    await expect(restoring({ queueVersion: 999 })).rejects.toThrow('has a queue of a newer Croft')
    await expect(restoring({ format: 2 })).rejects.toThrow('was made by a newer Croft')
  })

  test('rows that do not fit each other, and says so instead of waiting', async () => {
    const tables = manifest.tables.map((table) =>
      table.name === 'site' ? { ...table, rows: 0, bytes: 0, chunks: [] } : table,
    )
    await expect(restoring({ tables })).rejects.toThrow('"public.site_key"')
  })

  test('objects that are not of the backup', async () => {
    const places = await emptyOnes()
    await (await objectsOf(places)).put('sites/other/o', Buffer.from('x'))
    await expect(restoreInto(places, place)).rejects.toThrow('it has "sites/other/o"')
  })
})

describe('a backup of an earlier version', () => {
  test('is restored as it was and then brought up to date', async () => {
    const last = '0495_backup_holds.sql'
    const migrations = manifest.migrations.filter(({ name }) => name !== last)
    await writeManifest(place, { ...manifest, migrations }, keyOf(source))
    const places = await bareOnes()
    await restoreInto(places, place)
    await writeManifest(place, manifest, keyOf(source))
    expect(await sitesIn(places)).toBe(SITES)
    await asAdmin(async (admin) => {
      const applied = await admin<{ name: string }[]>`
        select name from schema_migration order by applied_at desc limit 1`
      expect(applied).toMatchObject([{ name: last }])
    }, places.database.url)
  })
})

describe('an ordinary role that owns its database', () => {
  test('is restored into, and held by row-level security after that; backing up it is refused', async () => {
    const places = await bareOnes()
    const url = new URL(places.database.url)
    const role = `owner_${randomBytes(4).toString('hex')}`
    await asAdmin(async (admin) => {
      await admin.unsafe(`create role ${role} login password 'secret'`)
      await admin.unsafe(`alter database ${places.database.name} owner to ${role}`)
    })
    cleanUp.defer(() =>
      asAdmin(async (admin) => {
        await places.database[Symbol.asyncDispose]()
        await admin.unsafe(`drop role ${role}`)
      }),
    )
    Object.assign(url, { username: role, password: 'secret' })
    const owned = { ...places, database: { ...places.database, url: url.href } }
    await restoreInto(owned, place)
    expect(await sitesIn(places), 'what the superuser sees').toBe(SITES)
    expect(await sitesIn(owned), 'what it sees itself').toBe(0)
    await expect(backUpOf(owned, await folder())).rejects.toThrow('set BACKUP_DATABASE_URL')
  })
})
