import { atOnce } from '#base/at-once.ts'
import { SetupError } from '#config/setup-error.ts'
import { objectPages } from '#platform/objects/object-pages.ts'
import type { ObjectStore } from '#platform/objects/object-store.ts'

import type { BackupPlace } from './backup-place.ts'
import { readChunk } from './chunks.ts'
import type { Manifest } from './manifest.ts'
import { type DumpedObject, readObjectIndex } from './object-index.ts'
import type { BackupProgress } from './progress.ts'

/** With a piece each at most 32 MiB of memory, and what S3 has of a long one on its disk. */
const OBJECTS_AT_ONCE = 6

export interface ObjectLoad {
  readonly objects: Pick<ObjectStore, 'list' | 'put' | 'head'>
  readonly place: BackupPlace
  readonly manifest: Manifest
  readonly progress: BackupProgress
}

/** Writes every object of a backup, but for those that a restore which was killed has written. */
export async function loadObjects(load: ObjectLoad): Promise<void> {
  const { objects, kept } = load.manifest
  for (const index of [objects, kept]) {
    const one = (object: DumpedObject) => loadObject(load, object)
    const all = atOnce(readObjectIndex(load.place, index), OBJECTS_AT_ONCE, one)
    for await (const bytes of all) load.progress.count({ objects: 1, objectBytes: bytes })
  }
}

/** Refuses a store with objects that are not the backup's: they would belong to nobody. */
export async function assertNoOthers(load: ObjectLoad, prefix: string): Promise<void> {
  const { objects, place, manifest } = load
  const { objects: first } = await objects.list({ prefix, maxKeys: 1 })
  if (first.length === 0) return
  const ours = new Set<string>()
  for (const index of [manifest.objects, manifest.kept]) {
    for await (const { key } of readObjectIndex(place, index)) ours.add(key)
  }
  for await (const page of objectPages(objects, prefix)) {
    const other = page.find(({ key }) => !ours.has(key))
    if (other !== undefined) {
      throw new SetupError(
        `The object store is not empty: it has "${other.key}", which is not in the backup. Restore into an empty one`,
      )
    }
  }
}

async function loadObject(
  { objects, place }: ObjectLoad,
  { key, sizeBytes, etag, contentType, metadata, pieces }: DumpedObject,
): Promise<number> {
  const there = await objects.head(key)
  if (there?.sizeBytes === sizeBytes && there.etag === etag) return sizeBytes
  const body = pieces.length > 1 ? streamOf(place, pieces) : await whole(place, pieces)
  const { sizeBytes: written } = await objects.put(key, body, { contentType, metadata })
  if (written === sizeBytes) return sizeBytes
  throw new SetupError(`The object "${key}" has ${written} bytes instead of ${sizeBytes}`)
}

function streamOf(place: BackupPlace, pieces: readonly string[]): ReadableStream<Uint8Array> {
  const left = [...pieces]
  return new ReadableStream(
    {
      async pull(controller) {
        const sha256 = left.shift()
        if (sha256 === undefined) controller.close()
        else controller.enqueue(await readChunk(place, { sha256, form: 'plain' }))
      },
    },
    { highWaterMark: 0 },
  )
}

/** What is at hand as a whole is written with fewer steps. */
async function whole(place: BackupPlace, [sha256]: readonly string[]): Promise<Uint8Array> {
  return sha256 === undefined ? new Uint8Array() : readChunk(place, { sha256, form: 'plain' })
}
