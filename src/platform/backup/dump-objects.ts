import { hasCode } from '#base/error-code.ts'
import { mapConcurrent } from '#base/map-concurrent.ts'
import { retry } from '#base/retry.ts'
import { objectPages } from '#platform/objects/object-pages.ts'
import type { ObjectHead, ObjectStore } from '#platform/objects/object-store.ts'

import type { Chunks } from './chunks.ts'
import type { DumpedObject } from './object-index.ts'
import type { BackupProgress } from './progress.ts'

/** Also the most that is held of one object. */
const PIECE_BYTES = 4 * 1024 * 1024
/** Objects that are read at once: with a piece each, and what is read beyond it, at most 48 MiB of memory. */
const OBJECTS_AT_ONCE = 6
const ATTEMPTS = 5
const PAUSE_MS = 1000

type Listed = Pick<ObjectHead, 'key' | 'sizeBytes' | 'etag' | 'lastModified'>

export interface ObjectDump {
  readonly objects: Pick<ObjectStore, 'list' | 'get'>
  readonly chunks: Chunks
  readonly progress: BackupProgress
}

/**
 * Every object under `prefix`, in key order. Does not read an object that the backup before has and that was not written since.
 * Leaves out one that is deleted during the backup: the process that deletes it keeps it for this backup.
 */
export async function* dumpObjects(
  dump: ObjectDump,
  prefix: string,
  before: AsyncIterable<DumpedObject>,
): AsyncGenerator<DumpedObject> {
  const known = new Known(before)
  async function* pairs() {
    for await (const page of objectPages(patient(dump.objects), prefix)) {
      for (const listed of page) yield { listed, same: await known.same(listed) }
    }
  }
  try {
    const one = async ({ listed, same }: { listed: Listed; same: DumpedObject | undefined }) =>
      isHere(same, dump.chunks) ? same : readObject(dump, listed.key)
    for await (const object of mapConcurrent(pairs(), OBJECTS_AT_ONCE, one)) {
      if (object === undefined) continue
      dump.progress.count({ objects: 1, objectBytes: object.sizeBytes })
      yield object
    }
  } finally {
    await known.close()
  }
}

/** One object in pieces; undefined when there is none under `storedAs`, where it is kept when that is not its key. */
export async function readObject(
  dump: Pick<ObjectDump, 'objects' | 'chunks'>,
  key: string,
  storedAs = key,
): Promise<DumpedObject | undefined> {
  return retry(() => readOnce(dump, key, storedAs), {
    attempts: ATTEMPTS,
    isRetryable: (error) => hasCode(error, 'ServiceUnavailable'),
    delayMs: () => PAUSE_MS,
  })
}

async function readOnce(
  { objects, chunks }: Pick<ObjectDump, 'objects' | 'chunks'>,
  key: string,
  storedAs: string,
): Promise<DumpedObject | undefined> {
  const found = await objects.get(storedAs)
  if (found === undefined) return undefined
  const { sizeBytes, etag, lastModified, contentType, metadata } = found.head
  const pieces: string[] = []
  for await (const piece of piecesOf(found.body)) pieces.push(await chunks.put(piece, 'plain'))
  const modifiedMs = lastModified.getTime()
  return { key, sizeBytes, etag, modifiedMs, contentType, metadata, pieces }
}

async function* piecesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let parts: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    for (let start = 0; start < chunk.byteLength;) {
      const part = chunk.subarray(start, start + PIECE_BYTES - bytes)
      parts.push(part)
      bytes += part.byteLength
      start += part.byteLength
      if (bytes < PIECE_BYTES) continue
      yield Buffer.concat(parts)
      parts = []
      bytes = 0
    }
  }
  if (bytes > 0) yield Buffer.concat(parts)
}

/** A store that is away for a moment does not end a backup. */
const patient = (objects: Pick<ObjectStore, 'list'>): Pick<ObjectStore, 'list'> => ({
  list: (options) =>
    retry(() => objects.list(options), {
      attempts: ATTEMPTS,
      isRetryable: (error) => hasCode(error, 'ServiceUnavailable'),
      delayMs: () => PAUSE_MS,
    }),
})

const isHere = (object: DumpedObject | undefined, chunks: Chunks): object is DumpedObject =>
  object?.pieces.every((sha256) => chunks.has({ sha256, form: 'plain' })) === true

/** The list of the backup before, read beside the list of the store: both are in key order. */
class Known {
  readonly #before: AsyncIterator<DumpedObject>
  #next: DumpedObject | undefined
  #isOpen = true

  constructor(before: AsyncIterable<DumpedObject>) {
    this.#before = before[Symbol.asyncIterator]()
  }

  /** The object as it was, unless it was written since. */
  async same({ key, sizeBytes, etag, lastModified }: Listed): Promise<DumpedObject | undefined> {
    while (this.#isOpen && (this.#next === undefined || isBehind(key, this.#next.key))) {
      const { done, value } = await this.#before.next()
      this.#isOpen = done !== true
      this.#next = done === true ? undefined : value
    }
    const next = this.#next
    const isSame =
      next?.key === key &&
      next.sizeBytes === sizeBytes &&
      next.etag === etag &&
      next.modifiedMs === lastModified.getTime()
    return isSame ? next : undefined
  }

  async close(): Promise<void> {
    await this.#before.return?.()
  }
}

const isBehind = (key: string, place: string): boolean =>
  Buffer.from(key).compare(Buffer.from(place)) > 0
