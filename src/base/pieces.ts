import { setImmediate as nextTurn } from 'node:timers/promises'

/** The same bytes, so many at a time. */
export function* piecesOf(bytes: Uint8Array, pieceBytes: number): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += pieceBytes) {
    yield bytes.subarray(start, start + pieceBytes)
  }
}

/** The same, and others have their turn after each. */
export async function* piecesInTurns(
  bytes: Uint8Array,
  pieceBytes: number,
): AsyncGenerator<Uint8Array> {
  for (const piece of piecesOf(bytes, pieceBytes)) {
    yield piece
    await nextTurn()
  }
}

/** All of them in one piece. One alone is not copied. */
export function joinPieces(pieces: readonly Uint8Array[]): Uint8Array {
  const [only] = pieces
  return only !== undefined && pieces.length === 1 ? only : Buffer.concat(pieces)
}
