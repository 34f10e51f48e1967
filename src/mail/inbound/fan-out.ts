import { setImmediate as nextTurn } from 'node:timers/promises'

import { joinChunks, chunksOf } from '#base/chunks.ts'

/** Read within a few milliseconds. */
const PIECE_BYTES = 64 * 1024

/** What takes a copy of some bytes: reads the body that it is given to its end, or fails. */
export type BodyReader = (body: Uint8Array | ReadableStream<Uint8Array>) => Promise<void>

/**
 * Gives the same bytes to several readers; the slowest sets the pace of the source. What ends within `memoryBytes` comes in
 * one piece. Rejects with the first failure of a reader or the source, once all of them have ended.
 */
export async function fanOut(
  source: AsyncIterable<Uint8Array>,
  memoryBytes: number,
  readers: readonly BodyReader[],
): Promise<void> {
  const iterator = source[Symbol.asyncIterator]()
  const { bytes, isWhole } = await beginning(iterator, memoryBytes)
  if (isWhole) return allEnded(readers.map((reader) => reader(bytes)))
  const failed = new AbortController()
  const copies = readers.map((reader) => {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    return { writer: writable.getWriter(), reading: reader(readable) }
  })
  for (const { reading } of copies) reading.catch(() => failed.abort())
  const writers = copies.map(({ writer }) => writer)
  const writing = copy(bytes, iterator, writers, failed.signal)
  return allEnded([...copies.map(({ reading }) => reading), writing])
}

/** The first bytes, at least `memoryBytes` unless there are no more. */
async function beginning(
  iterator: AsyncIterator<Uint8Array>,
  memoryBytes: number,
): Promise<{ bytes: Uint8Array; isWhole: boolean }> {
  const chunks: Uint8Array[] = []
  let size = 0
  while (size < memoryBytes) {
    const { done, value } = await iterator.next()
    if (done === true) return { bytes: joinChunks(chunks), isWhole: true }
    chunks.push(value)
    size += value.length
  }
  return { bytes: joinChunks(chunks), isWhole: false }
}

type Writer = WritableStreamDefaultWriter<Uint8Array>

/** Stops when a reader has failed: the reader itself reports the error. */
async function copy(
  first: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
  writers: readonly Writer[],
  failed: AbortSignal,
): Promise<void> {
  try {
    for await (const piece of inPieces(first, rest)) {
      await writeAll(writers, piece)
      // Data that has arrived already would otherwise be read to its end before other connections have a turn.
      await nextTurn()
      failed.throwIfAborted()
    }
    await Promise.allSettled(writers.map((writer) => writer.close()))
  } catch (error) {
    await Promise.allSettled(writers.map((writer) => writer.abort(error)))
    throw error
  }
}

/** Releases the source when it is not read to its end: its owner may read what is left. */
async function* inPieces(
  first: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield* chunksOf(first, PIECE_BYTES)
    for await (const chunk of { [Symbol.asyncIterator]: () => rest })
      yield* chunksOf(chunk, PIECE_BYTES)
  } finally {
    await rest.return?.()
  }
}

const writeAll = (writers: readonly Writer[], chunk: Uint8Array): Promise<unknown> =>
  Promise.allSettled(writers.map((writer) => writer.write(chunk)))

/** Waits for all; rejects with what failed first. */
async function allEnded(work: readonly Promise<void>[]): Promise<void> {
  const failures: unknown[] = []
  const noting = work.map((each) => each.catch((error: unknown) => failures.push(error)))
  await Promise.all(noting)
  if (failures.length > 0) throw failures[0]
}
