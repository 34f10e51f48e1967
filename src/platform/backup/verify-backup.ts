import { mapConcurrent } from '#base/map-concurrent.ts'
import { SetupError } from '#config/setup-error.ts'

import type { BackupPlace } from './backup-place.ts'
import { ChunkFault, type ChunkRef, readChunk } from './chunks.ts'
import type { DumpedObjects, Manifest } from './manifest.ts'
import { type DumpedObject, readObjectIndex } from './object-index.ts'
import { BackupProgress } from './progress.ts'

const CHUNKS_AT_ONCE = 4
const NEWLINE = 10
/** How many errors of a damaged backup are reported. */
const MAX_FAULTS = 100

/** Reads everything of a backup and says what is not as it was written. */
export async function verifyBackup(
  place: BackupPlace,
  manifest: Manifest,
  say: (line: string) => void,
): Promise<string[]> {
  const verification = new Verification(place, new BackupProgress(say))
  await verification.tables(manifest)
  await verification.objects(manifest.objects)
  await verification.objects(manifest.kept)
  return verification.faults
}

class Verification {
  readonly faults: string[] = []
  readonly #place: BackupPlace
  readonly #progress: BackupProgress

  constructor(place: BackupPlace, progress: BackupProgress) {
    this.#place = place
    this.#progress = progress
  }

  async tables({ tables }: Manifest): Promise<void> {
    this.#progress.expect({ tables: tables.length })
    for (const { schema, name, chunks, rows, bytes } of tables) {
      const found = { rows: 0, bytes: 0 }
      const refs = chunks.map((sha256) => ({ sha256, form: 'packed' }) as const)
      for await (const content of mapConcurrent(refs, CHUNKS_AT_ONCE, (ref) => this.#read(ref))) {
        found.rows += newlinesIn(content)
        found.bytes += content.byteLength
      }
      if (found.rows !== rows || found.bytes !== bytes) {
        this.#fault(`The table "${schema}.${name}" has ${found.rows} rows instead of ${rows}`)
      }
      this.#progress.count({ tables: 1, rows: found.rows, rowBytes: found.bytes })
    }
  }

  async objects(index: DumpedObjects): Promise<void> {
    const found = { count: 0, bytes: 0 }
    try {
      const read = (object: DumpedObject) => this.#object(object)
      for await (const bytes of mapConcurrent(
        readObjectIndex(this.#place, index),
        CHUNKS_AT_ONCE,
        read,
      )) {
        found.count++
        found.bytes += bytes
      }
    } catch (error) {
      if (!(error instanceof SetupError)) throw error
      this.#fault(error.message)
    }
    if (found.count !== index.count || found.bytes !== index.bytes) {
      this.#fault(`The list of objects has ${found.count} instead of ${index.count}`)
    }
  }

  /** How long it is said to be. */
  async #object({ key, pieces, sizeBytes }: DumpedObject): Promise<number> {
    let bytes = 0
    for (const sha256 of pieces) bytes += (await this.#read({ sha256, form: 'plain' })).byteLength
    if (bytes !== sizeBytes) {
      this.#fault(`The object "${key}" has ${bytes} bytes instead of ${sizeBytes}`)
    }
    this.#progress.count({ objects: 1, objectBytes: bytes })
    return sizeBytes
  }

  async #read(ref: ChunkRef): Promise<Buffer> {
    try {
      return await readChunk(this.#place, ref)
    } catch (error) {
      if (!(error instanceof ChunkFault)) throw error
      this.#fault(error.message)
      return Buffer.alloc(0)
    }
  }

  #fault(message: string): void {
    if (this.faults.length < MAX_FAULTS) this.faults.push(message)
  }
}

function newlinesIn(content: Buffer): number {
  let count = 0
  for (let at = content.indexOf(NEWLINE); at !== -1; at = content.indexOf(NEWLINE, at + 1)) count++
  return count
}
