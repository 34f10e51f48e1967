import { crc32 } from 'node:zlib'

const LEAST_BYTES = 256 * 1024
const USUAL_BYTES = 1024 * 1024
const MOST_BYTES = 4 * 1024 * 1024
const NEWLINE = 10
const CRC_VALUES = 2 ** 32

export interface RowChunk {
  readonly content: Buffer
  readonly rows: number
}

/**
 * Cuts the text of `COPY … TO STDOUT` behind rows. Where it cuts depends on the row alone, so that a change to one row changes one
 * chunk, or two, and all others are what they were in the backup before. A chunk has at most 4 MiB and one row.
 */
export async function* rowChunks(text: AsyncIterable<Uint8Array>): AsyncGenerator<RowChunk> {
  let parts: Uint8Array[] = []
  let bytes = 0
  let rows = 0
  let unfinished: Uint8Array[] = []
  for await (const piece of text) {
    for (const part of lines(piece)) {
      unfinished.push(part)
      if (part.at(-1) !== NEWLINE) continue
      const row = unfinished.length === 1 ? part : Buffer.concat(unfinished)
      unfinished = []
      parts.push(row)
      bytes += row.byteLength
      rows++
      if (!isCut(row, bytes)) continue
      yield { content: Buffer.concat(parts), rows }
      parts = []
      bytes = 0
      rows = 0
    }
  }
  if (unfinished.length > 0) throw new Error('The rows of a table ended within a row')
  if (rows > 0) yield { content: Buffer.concat(parts), rows }
}

/** Newlines within values are written as two other characters, so each one ends a row. */
function* lines(piece: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < piece.byteLength;) {
    const newline = piece.indexOf(NEWLINE, start)
    const end = newline === -1 ? piece.byteLength : newline + 1
    yield piece.subarray(start, end)
    start = end
  }
}

/** A long row is a cut more often, so that chunks of long rows are about as long as those of short ones. */
function isCut(row: Uint8Array, bytes: number): boolean {
  if (bytes >= MOST_BYTES) return true
  return bytes >= LEAST_BYTES && crc32(row) / CRC_VALUES < row.byteLength / USUAL_BYTES
}
