import type { BackupPlace } from './backup-place.ts'
import { type ChunkForm, chunkName, listChunks } from './chunks.ts'
import { type Manifest, deleteBackups, listBackups, readManifest } from './manifest.ts'
import { readObjectIndex } from './object-index.ts'
import { lockPlace } from './place-lock.ts'

/** Parts that are deleted between two looks whether the place is still ours. */
const LOOK_EVERY = 100

export interface Pruned {
  /** Ids of backups that are gone. */
  readonly deleted: readonly string[]
  readonly left: readonly string[]
  /** Parts that no backup needs any more. */
  readonly chunks: number
}

/**
 * Deletes all backups but the newest, and the parts that only those had, also such that killed ones left. Killed itself it leaves parts
 * that the next call removes. A backup that cannot be read keeps every part where it is.
 */
export async function pruneBackups(
  place: BackupPlace,
  keep: number,
  say: (line: string) => void,
): Promise<Pruned> {
  await using lock = await lockPlace(place, { say })
  const ids = await listBackups(place)
  const left = ids.slice(-keep)
  const deleted = ids.slice(0, -keep)
  const needed = new Set<string>()
  for (const id of left) {
    const { manifest } = await readManifest(place, id)
    for await (const name of chunksOf(place, manifest)) needed.add(name)
  }
  // The manifest first: without it its parts belong to no backup.
  await deleteBackups(place, deleted)
  let chunks = 0
  for await (const name of listChunks(place)) {
    if (needed.has(name)) continue
    if (chunks % LOOK_EVERY === 0) await lock.assertHeld()
    await place.delete(name)
    chunks++
  }
  return { deleted, left, chunks }
}

async function* chunksOf(place: BackupPlace, manifest: Manifest): AsyncGenerator<string> {
  for (const { chunks } of manifest.tables) yield* chunks.map(named('packed'))
  for (const index of [manifest.objects, manifest.kept]) {
    yield* index.chunks.map(named('packed'))
    for await (const { pieces } of readObjectIndex(place, index)) yield* pieces.map(named('plain'))
  }
}

const named =
  (form: ChunkForm) =>
  (sha256: string): string =>
    chunkName({ sha256, form })
