import { join } from 'node:path'

import { systemClock } from '#base/clock.ts'
import { type BackUpDeps, backUp } from '#platform/backup/back-up.ts'
import type { BackupPlace } from '#platform/backup/backup-place.ts'
import { type Manifest, readManifest } from '#platform/backup/manifest.ts'
import { restoreBackup } from '#platform/backup/restore-backup.ts'
import { FileObjectStore } from '#platform/objects/file-object-store.ts'
import type { ObjectStore } from '#platform/objects/object-store.ts'
import { Sealer } from '#platform/seal/sealer.ts'

import { cloneDatabase } from './postgres.ts'
import { silentLog } from './silent-log.ts'
import type { Stack } from './stack.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** What a backup is made of, and restored into. */
export type Places = Pick<Stack, 'database' | 'dataDir' | 'masterKey'>

/**
 * Nothing yet, with the key of the installation whose backup is to come: the schema is there and no site, which costs a test less than
 * a database without a table.
 */
export async function emptyPlaces(
  cleanUp: AsyncDisposableStack,
  masterKey: Buffer,
  openDatabase = cloneDatabase,
): Promise<Places> {
  return {
    database: cleanUp.use(await openDatabase()),
    dataDir: await temporaryFolder(cleanUp, 'croft-restored-'),
    masterKey,
  }
}

/** The objects of these places, as a program beside the service opens them. */
export const objectsOf = ({ dataDir }: Places): Promise<ObjectStore> =>
  new FileObjectStore({
    dir: join(dataDir, 'objects'),
    urls: { sign: () => Promise.reject(new Error('signs nothing')) },
    clock: systemClock,
  }).open()

const partsOf = async (places: Places) => ({
  databaseUrl: places.database.url,
  objects: await objectsOf(places),
  key: new Sealer(places.masterKey).derive('backup'),
  say: () => {},
})

export async function backUpOf(
  from: Places,
  place: BackupPlace,
  rest: Partial<BackUpDeps> = {},
): Promise<Manifest> {
  return backUp({ ...(await partsOf(from)), place, croft: 'test', ...rest })
}

export async function restoreInto(to: Places, place: BackupPlace, at?: string): Promise<void> {
  const backup = await readManifest(place, at)
  await restoreBackup({ ...(await partsOf(to)), place, log: silentLog }, backup)
}
