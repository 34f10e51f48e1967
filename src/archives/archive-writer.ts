import { Readable } from 'node:stream'
import { createGzip } from 'node:zlib'

import { createTarPacker } from 'modern-tar'

import {
  type ArchiveHeader,
  type ArchiveManifest,
  type EntryName,
  HEADER_ENTRY,
  MANIFEST_ENTRY,
  entryName,
} from './archive-format.ts'
import { PartDigests } from './part-digests.ts'

/** Much of an archive is compressed already: more effort would cost time and gain little. */
const GZIP_LEVEL = 4

/** An entry of a part. `body` gives exactly that many bytes. */
export interface ArchiveEntry {
  readonly name: EntryName
  readonly sizeBytes: number
  readonly body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>
}

/** What follows from the entries when all of them are written. */
export type ManifestFacts = Omit<ArchiveManifest, 'parts'>

/** A compressed tar in reading order: header, entries, manifest. */
export function writeArchive(
  header: ArchiveHeader,
  entries: AsyncGenerator<ArchiveEntry, ManifestFacts, undefined>,
): ReadableStream<Uint8Array> {
  const { readable, controller } = createTarPacker()
  const exportedAt = new Date(header.exportedAt)
  const add = async (name: string, sizeBytes: number, body: ArchiveEntry['body']) => {
    const writer = controller
      .add({ name, size: sizeBytes, mtime: exportedAt, mode: 0o600, type: 'file' })
      .getWriter()
    for await (const bytes of body) await writer.write(bytes)
    await writer.close()
  }
  const addDocument = async (name: string, value: object) => {
    const bytes = Buffer.from(`${JSON.stringify(value, null, 2)}\n`)
    await add(name, bytes.byteLength, [bytes])
  }
  const write = async (): Promise<void> => {
    await addDocument(HEADER_ENTRY, header)
    const digests = new PartDigests()
    for (;;) {
      const { done, value } = await entries.next()
      if (done) {
        await addDocument(MANIFEST_ENTRY, { ...value, parts: digests.facts() })
        return controller.finalize()
      }
      const name = entryName(value.name)
      digests.begin(value.name.part, name, value.sizeBytes)
      await add(name, value.sizeBytes, hashed(value, digests))
    }
  }
  write()
    .catch((error: unknown) => controller.error(error))
    .finally(() => void entries.return({ rows: {}, objects: 0, missingSecrets: [] }))
  return compressed(readable)
}

async function* hashed({ name, body }: ArchiveEntry, digests: PartDigests) {
  for await (const bytes of body) {
    digests.add(name.part, bytes)
    yield bytes
  }
}

/** Ends the tar when the reader goes away. */
function compressed(tar: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = tar.getReader()
  const gzip = createGzip({ level: GZIP_LEVEL })
  const chunks = async function* () {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  }
  const source = Readable.from(chunks(), { objectMode: false })
  source.on('error', (error) => gzip.destroy(error))
  const packed: AsyncIterator<Uint8Array> = source.pipe(gzip)[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await packed.next()
        if (done) return controller.close()
        controller.enqueue(value)
      },
      async cancel(reason) {
        gzip.destroy()
        source.destroy()
        await reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}
