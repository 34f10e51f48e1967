import { setImmediate as nextTurn } from 'node:timers/promises'

/** The same bytes, so many at a time. */
export function* chunksOf(bytes: Uint8Array, chunkBytes: number): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += chunkBytes) {
    yield bytes.subarray(start, start + chunkBytes)
  }
}

/** The same, and others have their turn after each. */
export async function* yieldingChunksOf(
  bytes: Uint8Array,
  chunkBytes: number,
): AsyncGenerator<Uint8Array> {
  for (const chunk of chunksOf(bytes, chunkBytes)) {
    yield chunk
    await nextTurn()
  }
}

/** All of them in one piece. One alone is not copied. */
export function joinChunks(chunks: readonly Uint8Array[]): Uint8Array {
  const [only] = chunks
  return only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks)
}
