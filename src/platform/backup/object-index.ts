import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { SetupError } from '#config/setup-error.ts'

import type { BackupPlace } from './backup-place.ts'
import { type Chunks, readChunk } from './chunks.ts'
import type { DumpedObjects } from './manifest.ts'
import { rowChunks } from './row-chunks.ts'

const DumpedObject = Type.Object({
  key: Type.String(),
  sizeBytes: Type.Integer({ minimum: 0 }),
  etag: Type.String(),
  modifiedMs: Type.Number(),
  contentType: Type.String(),
  metadata: Type.Record(Type.String(), Type.String()),
  /** SHA-256 of its pieces, in their order. */
  pieces: Type.Array(Type.String()),
})
/** One object as a backup has it. */
export type DumpedObject = Static<typeof DumpedObject>

/** Writes the list of objects of a backup, in key order, a line each. */
export async function writeObjectIndex(
  chunks: Chunks,
  objects: AsyncIterable<DumpedObject>,
): Promise<DumpedObjects> {
  const index = { count: 0, bytes: 0, chunks: [] as string[] }
  async function* lines() {
    for await (const object of objects) {
      index.count++
      index.bytes += object.sizeBytes
      yield Buffer.from(`${JSON.stringify(object)}\n`)
    }
  }
  for await (const { content } of rowChunks(lines())) {
    index.chunks.push(await chunks.put(content, 'packed'))
  }
  return index
}

/** The objects of a backup, in key order. */
export async function* readObjectIndex(
  place: BackupPlace,
  index: Pick<DumpedObjects, 'chunks'>,
): AsyncGenerator<DumpedObject> {
  for (const sha256 of index.chunks) {
    const content = await readChunk(place, { sha256, form: 'packed' })
    for (const line of content.toString().split('\n')) {
      if (line !== '') yield parsed(line)
    }
  }
}

function parsed(line: string): DumpedObject {
  const object: unknown = JSON.parse(line)
  if (Value.Check(DumpedObject, object)) return object
  throw new SetupError('The list of objects of the backup is not one that this Croft can read')
}
