import { Buffer } from 'node:buffer'

import { MAX_FRAME_BYTES } from './protocol.ts'

const HEADER = 4
/** Above this the exact size is counted first, instead of reserving three bytes for each UTF-16 unit. */
const SMALL = 16 * 1024

/** A u32 length, little endian, and the text in UTF-8. */
export function encodeFrame(text: string): Buffer {
  const room = text.length <= SMALL ? text.length * 3 : Buffer.byteLength(text)
  const frame = Buffer.allocUnsafe(HEADER + room)
  const size = frame.write(text, HEADER)
  frame.writeUInt32LE(size, 0)
  return frame.subarray(0, HEADER + size)
}

/** Cuts a byte stream into frames. Throws when a frame is longer than allowed. */
export class FrameReader {
  readonly #maxBytes: number
  #chunks: Buffer[] = []
  #length = 0
  /** Bytes that must be there before another look is worth it. */
  #needed = HEADER

  constructor(maxBytes = MAX_FRAME_BYTES) {
    this.#maxBytes = maxBytes
  }

  /** The texts of the frames that `chunk` completes. */
  push(chunk: Buffer): string[] {
    this.#chunks.push(chunk)
    this.#length += chunk.length
    if (this.#length < this.#needed) return []
    let bytes = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks)
    const texts: string[] = []
    while (bytes.length >= HEADER) {
      const end = HEADER + this.#size(bytes)
      if (bytes.length < end) break
      texts.push(bytes.toString('utf8', HEADER, end))
      bytes = bytes.subarray(end)
    }
    this.#chunks = bytes.length > 0 ? [bytes] : []
    this.#length = bytes.length
    this.#needed = bytes.length < HEADER ? HEADER : HEADER + this.#size(bytes)
    return texts
  }

  #size(bytes: Buffer): number {
    const size = bytes.readUInt32LE(0)
    if (size > this.#maxBytes) throw new Error(`A frame of ${size} bytes is too long`)
    return size
  }
}
