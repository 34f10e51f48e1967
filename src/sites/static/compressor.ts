import { promisify } from 'node:util'
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib'

import { ENCODINGS, type Encoding } from './manifest.ts'

/** Effort that suits so many bytes of a deployment. The best one takes two seconds a megabyte. */
const EFFORTS = [
  { upToBytes: 3 * 1024 * 1024, brotli: 11, zstd: 19, gzip: 9 },
  { upToBytes: 24 * 1024 * 1024, brotli: 9, zstd: 12, gzip: 9 },
  { upToBytes: Infinity, brotli: 5, zstd: 6, gzip: 6 },
] as const

export type Effort = Omit<(typeof EFFORTS)[number], 'upToBytes'>

/** How hard files of so many bytes together are compressed, so that a deployment does not wait for it too long. */
export function effortFor(totalBytes: number): Effort {
  const effort = EFFORTS.find(({ upToBytes }) => totalBytes <= upToBytes)
  return effort ?? { brotli: 5, zstd: 6, gzip: 6 }
}

/** Compresses in the threads of zlib, so that nobody else waits. Leaves out what is no smaller than the bytes themselves. */
export async function compressed(
  bytes: Uint8Array,
  effort: Effort,
): Promise<ReadonlyMap<Encoding, Uint8Array>> {
  const smaller = new Map<Encoding, Uint8Array>()
  for (const encoding of ENCODINGS) {
    const output = await COMPRESS[encoding](bytes, effort)
    if (output.byteLength < bytes.byteLength) smaller.set(encoding, output)
  }
  return smaller
}

const COMPRESS = {
  br: (bytes, { brotli }) =>
    promisify(brotliCompress)(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: brotli,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.byteLength,
      },
    }),
  zstd: (bytes, { zstd }) =>
    promisify(zstdCompress)(bytes, {
      params: { [constants.ZSTD_c_compressionLevel]: zstd },
      pledgedSrcSize: bytes.byteLength,
    }),
  gzip: (bytes, { gzip: level }) => promisify(gzip)(bytes, { level }),
} as const satisfies Record<Encoding, (bytes: Uint8Array, effort: Effort) => Promise<Uint8Array>>
