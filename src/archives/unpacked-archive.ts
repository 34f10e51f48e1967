import type { ObjectStore } from '#platform/objects/object-store.ts'

import {
  DEFAULT_MAX_BYTES,
  type EntryName,
  HEADER_ENTRY,
  MANIFEST_ENTRY,
  MAX_DOCUMENT_BYTES,
  MAX_ROWS_ENTRY_BYTES,
  ROWS_ENTRY_BYTES,
  invalidArchive,
  parseEntryName,
  parseJson,
} from './archive-format.ts'
import { type PackedEntry, readArchive, wholeEntry } from './archive-reader.ts'
import {
  type ArchivedObject,
  bucketObjectOf,
  keyOfArchived,
  rawIdOf,
  readArchivedObject,
} from './object-entries.ts'
import type { TemporaryFile } from './temporary-file.ts'

/** Shorter objects are put several at once. */
const SMALL_BYTES = ROWS_ENTRY_BYTES
const PUTS_AT_ONCE = 8

const AT_ONCE = 500

export type BucketObject = NonNullable<ReturnType<typeof bucketObjectOf>>

interface Target {
  readonly siteId: string
  readonly objects: Pick<ObjectStore, 'put'>
  /** Takes the rows, uncompressed. */
  readonly file: TemporaryFile
  /** After each object. */
  readonly onObject: () => void
}

interface Span {
  readonly start: number
  readonly end: number
}

/** An archive whose objects are stored, and whose rows lie ready on the disk: they are written in one go. */
export class UnpackedArchive {
  readonly #target: Target
  readonly #rows: { readonly name: EntryName; readonly span: Span }[] = []
  /** The objects of buckets, and the raw messages whose bytes there are. */
  readonly bucketObjects: NotedLines<BucketObject>
  readonly rawIds: NotedLines<string>
  readonly #puts = new Set<Promise<void>>()

  private constructor(target: Target) {
    this.#target = target
    this.bucketObjects = new NotedLines(target.file)
    this.rawIds = new NotedLines(target.file)
  }

  /** Expects an archive that has been verified. */
  static async unpack(
    source: AsyncIterable<Uint8Array>,
    target: Target,
    maxBytes = DEFAULT_MAX_BYTES,
  ): Promise<UnpackedArchive> {
    const unpacked = new UnpackedArchive(target)
    try {
      let described: ArchivedObject | undefined
      for await (const entry of readArchive(source, maxBytes)) {
        if (entry.name === HEADER_ENTRY || entry.name === MANIFEST_ENTRY) continue
        described = await unpacked.#take(entry, described)
      }
      await unpacked.bucketObjects.flush()
      await unpacked.rawIds.flush()
    } finally {
      await Promise.allSettled(unpacked.#puts)
    }
    return unpacked
  }

  /** The lines of each entry of rows, in the order of the archive. */
  async *rows(): AsyncGenerator<readonly [EntryName, readonly string[]], void, undefined> {
    for (const { name, span } of this.#rows) yield [name, (await this.#text(span)).split('\n')]
  }

  async #take(
    entry: PackedEntry,
    described: ArchivedObject | undefined,
  ): Promise<ArchivedObject | undefined> {
    const name = parseEntryName(entry.name)
    switch (name.kind) {
      case 'rows':
        this.#rows.push({ name, span: await this.#append(entry.bytes) })
        return undefined
      case 'object': {
        const document = parseJson(entry.name, await wholeEntry(entry, MAX_DOCUMENT_BYTES))
        return readArchivedObject(name.part, entry.name, document)
      }
      case 'bytes':
        await this.#putObject(entry, described)
        return undefined
    }
  }

  async #putObject(entry: PackedEntry, object: ArchivedObject | undefined): Promise<void> {
    if (object?.sizeBytes !== entry.sizeBytes) {
      throw invalidArchive(`"${entry.name}" is not as long as it is said to be`)
    }
    if (object.sizeBytes > SMALL_BYTES) {
      await this.#put(object, streamOf(entry.bytes))
    } else {
      const bytes = await wholeEntry(entry, SMALL_BYTES)
      while (this.#puts.size >= PUTS_AT_ONCE) await Promise.race(this.#puts)
      const put = this.#put(object, bytes).finally(() => this.#puts.delete(put))
      this.#puts.add(put)
      // Handled by the code that awaits it.
      put.catch(() => {})
    }
    const inBucket = bucketObjectOf(object)
    if (inBucket) await this.bucketObjects.add(inBucket)
    const rawId = rawIdOf(object)
    if (rawId !== undefined) await this.rawIds.add(rawId)
  }

  async #put(object: ArchivedObject, body: Uint8Array | ReadableStream<Uint8Array>) {
    const { siteId, objects, onObject } = this.#target
    const { contentType, metadata, sizeBytes } = object
    const options = { contentType, metadata, maxBytes: sizeBytes }
    await objects.put(keyOfArchived(siteId, object), body, options)
    onObject()
  }

  async #append(chunks: AsyncIterable<Uint8Array>): Promise<Span> {
    const { file } = this.#target
    const start = file.sizeBytes
    for await (const bytes of chunks) await file.append(bytes)
    return { start, end: file.sizeBytes }
  }

  async #text({ start, end }: Span): Promise<string> {
    if (end - start > MAX_ROWS_ENTRY_BYTES) throw invalidArchive('an entry of it is too long')
    const chunks = await Array.fromAsync(this.#target.file.read(start, end))
    return Buffer.concat(chunks).toString().trimEnd()
  }
}

function streamOf(chunks: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await iterator.next()
        if (done) return controller.close()
        controller.enqueue(value)
      },
      async cancel() {
        await iterator.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}

/** Values that are noted on the disk, and read again some at a time. */
class NotedLines<Value> {
  readonly #file: TemporaryFile
  readonly #spans: (readonly [start: number, end: number])[] = []
  #waiting: Value[] = []

  constructor(file: TemporaryFile) {
    this.#file = file
  }

  async add(value: Value): Promise<void> {
    this.#waiting.push(value)
    if (this.#waiting.length >= AT_ONCE) await this.flush()
  }

  async flush(): Promise<void> {
    if (this.#waiting.length === 0) return
    const start = this.#file.sizeBytes
    await this.#file.append(Buffer.from(JSON.stringify(this.#waiting)))
    this.#spans.push([start, this.#file.sizeBytes])
    this.#waiting = []
  }

  async *batches(): AsyncGenerator<readonly Value[], void, undefined> {
    for (const [start, end] of this.#spans) {
      const text = Buffer.concat(await Array.fromAsync(this.#file.read(start, end))).toString()
      // Only `flush` writes them.
      yield JSON.parse(text) as Value[]
    }
  }
}
