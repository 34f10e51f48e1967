import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'

import { createTarDecoder } from 'modern-tar'

import { AppError } from '#base/app-error.ts'

import { MAX_ENTRIES, invalidArchive, archiveTooLarge } from './archive-format.ts'

/** One entry of an archive. Its bytes can be read until the next entry is asked for. */
export interface PackedEntry {
  readonly name: string
  readonly sizeBytes: number
  readonly bytes: AsyncIterable<Uint8Array>
}

/**
 * The entries of a compressed tar as they come, read in bounded memory. Throws `InvalidArchive` for what is no archive or not
 * a whole one, and `ArchiveTooLarge` when it unpacks to more than `maxBytes`.
 */
export async function* readArchive(
  source: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<PackedEntry, void, undefined> {
  const decoder = createTarDecoder({ strict: true })
  const gunzip = createGunzip()
  const { state, chunks: read } = watched(source)
  const unpacked = pipeline(Readable.from(read, { objectMode: false }), gunzip, (chunks) =>
    feed(decoder.writable.getWriter(), chunks, maxBytes),
  )
  // Handled below, by the reader.
  unpacked.catch(() => {})
  const reader = decoder.readable.getReader()
  // The tar only knows that it was cut; what cut it knows why.
  const refused = async (error: unknown): Promise<unknown> => {
    if (error instanceof AppError) return error
    const reason = await unpacked.then(() => error, reasonOf)
    if (reason instanceof AppError || state.hasFailed) return reason
    return invalidArchive('it is damaged, or not all of it is there', reason)
  }
  let count = 0
  try {
    for (;;) {
      const { done, value: entry } = await reader.read()
      if (done) break
      count += 1
      if (count > MAX_ENTRIES) throw archiveTooLarge(`it has more than ${MAX_ENTRIES} entries`)
      const { name, size, type } = entry.header
      if (type !== 'file') throw invalidArchive(`it has a ${type}, and an export has files alone`)
      yield { name, sizeBytes: size, bytes: bytesOf(entry.body, refused) }
      await entry.body.cancel().catch(() => {})
    }
    await unpacked
  } catch (error) {
    throw await refused(error)
  } finally {
    await reader.cancel().catch(() => {})
    gunzip.destroy()
  }
}

/** All bytes of a short entry. */
export async function wholeEntry(entry: PackedEntry, maxBytes: number): Promise<Buffer> {
  if (entry.sizeBytes > maxBytes) {
    throw archiveTooLarge(`an entry has ${entry.sizeBytes} bytes of at most ${maxBytes}`)
  }
  const chunks: Uint8Array[] = []
  for await (const bytes of entry.bytes) chunks.push(bytes)
  return Buffer.concat(chunks)
}

async function feed(
  tar: WritableStreamDefaultWriter<Uint8Array>,
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<void> {
  let total = 0
  try {
    for await (const chunk of chunks) {
      total += chunk.byteLength
      if (total > maxBytes) throw archiveTooLarge(`it unpacks to more than ${maxBytes} bytes`)
      await tar.write(chunk)
    }
    await tar.close()
  } catch (error) {
    await tar.abort(error).catch(() => {})
    throw error
  }
}

async function* bytesOf(
  body: ReadableStream<Uint8Array>,
  refused: (error: unknown) => Promise<unknown>,
) {
  const reader = body.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(async (error: unknown) => {
        throw await refused(error)
      })
      if (done) return
      yield value
    }
  } finally {
    reader.releaseLock()
  }
}

const reasonOf = (reason: unknown): unknown => reason

/** Tells what went wrong where an archive comes from from what is wrong with the archive. */
function watched(source: AsyncIterable<Uint8Array>) {
  const state = { hasFailed: false }
  const chunks = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      yield* source
    } catch (error) {
      state.hasFailed = true
      throw error
    }
  }
  return { state, chunks: chunks() }
}
