import { Readable, type Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from 'node:zlib'

import { AppError } from '#base/app-error.ts'
import { ByteBlocks } from '#base/byte-blocks.ts'
import { chunksOf } from '#base/chunks.ts'
import { Limiter } from '#base/limiter.ts'

import type { ContentCoding } from './content-coding.ts'

const PIECE_BYTES = 64 * 1024
/** What is longer than this and grows more than a thousandfold is made for that: rows of a table grow ten- to fiftyfold. */
const FREE_BYTES = 1024 * 1024
const MOST_GROWTH = 1000
/** Six megabytes take a tenth of a second, whatever is in them. */
const MAX_MS = 10_000
/** What HTTP allows (RFC 9659, section 3); the decoder would otherwise hold 128 MB. */
const ZSTD_WINDOW_LOG = 23

const DECODERS = {
  gzip: () => createGunzip({ chunkSize: PIECE_BYTES }),
  deflate: () => createInflate({ chunkSize: PIECE_BYTES }),
  br: () => createBrotliDecompress({ chunkSize: PIECE_BYTES }),
  zstd: () =>
    createZstdDecompress({
      chunkSize: PIECE_BYTES,
      params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG },
    }),
} satisfies Record<ContentCoding, () => Transform>

/** A decoder holds up to 16 MB besides what it makes, and keeps a thread busy. */
const turns = new Limiter({
  permits: 4,
  permitsPerKey: 2,
  maxQueued: 32,
  maxWaitMs: 10_000,
  refuse: () =>
    new AppError(
      'ServiceUnavailable',
      'Too many compressed request bodies at once: send it again, or as it is',
      { retryAfterSeconds: 1 },
    ),
})

export interface EncodedBody {
  readonly coding: ContentCoding
  readonly bytes: Uint8Array
  /** Whose turn is used: the host that it was sent to. */
  readonly host: string
}

export interface DecodedLimit {
  readonly limitBytes: number
  readonly tooLong: () => AppError
  readonly signal: AbortSignal
}

/** The bytes that a compressed body stands for, made piece by piece on another thread. Throws 400, 413 and 503. */
export function decodeBody(encoded: EncodedBody, limit: DecodedLimit): Promise<Uint8Array> {
  const { host: key } = encoded
  return turns.run(() => decoded(encoded, limit), { key, signal: limit.signal })
}

async function decoded(
  { coding, bytes }: EncodedBody,
  { limitBytes, tooLong, signal }: DecodedLimit,
): Promise<Uint8Array> {
  const blocks = new ByteBlocks()
  const mostGrown = Math.max(FREE_BYTES, bytes.byteLength * MOST_GROWTH)
  const late = AbortSignal.timeout(MAX_MS)
  let refused: AppError | undefined
  try {
    await pipeline(
      Readable.from(chunksOf(bytes, PIECE_BYTES), { objectMode: false }),
      DECODERS[coding](),
      async (pieces: AsyncIterable<Uint8Array>) => {
        for await (const piece of pieces) {
          const sizeBytes = blocks.sizeBytes + piece.byteLength
          if (sizeBytes > limitBytes) refused = tooLong()
          else if (sizeBytes > mostGrown) refused = grownTooMuch()
          if (refused) throw refused
          blocks.add(piece)
        }
      },
      { signal: AbortSignal.any([signal, late]) },
    )
  } catch (error) {
    signal.throwIfAborted()
    if (late.aborted) throw tookTooLong()
    // What a pipeline on Deno fails with is not what was thrown in it.
    throw refused ?? notEncoded(coding, error)
  }
  // On Bun a zstd body without its end is no error.
  if (blocks.sizeBytes === 0) throw notEncoded(coding)
  return blocks.join()
}

const grownTooMuch = (): AppError =>
  new AppError(
    'PayloadTooLarge',
    `The request body grows more than ${MOST_GROWTH} times when it is decompressed: send it as it is`,
    { fields: { limitGrowth: MOST_GROWTH } },
  )

const tookTooLong = (): AppError =>
  new AppError(
    'PayloadTooLarge',
    `The request body took more than ${MAX_MS} ms to decompress: send it as it is`,
    { fields: { limitMs: MAX_MS } },
  )

const notEncoded = (coding: ContentCoding, cause?: unknown): AppError =>
  new AppError(
    'InvalidContentEncoding',
    `The request body is not whole and valid ${coding}, as its "content-encoding" says: compress it again, or leave the header out`,
    { cause },
  )
