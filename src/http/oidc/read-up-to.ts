import { Buffer } from 'node:buffer'

import type { AppError } from '#base/app-error.ts'

/** A whole body, unless it is longer than that many bytes: then the rest is not read. */
export async function readUpTo(
  stream: ReadableStream<Uint8Array> | null,
  limitBytes: number,
  tooLong: () => AppError,
): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream ?? []) {
    size += chunk.byteLength
    if (size > limitBytes) throw tooLong()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
