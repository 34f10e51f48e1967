import { Buffer } from 'node:buffer'

import { MAX_FRAME_BYTES } from './protocol.ts'

const HEADER = 4
/** Above this the exact size is counted first, instead of reserving three bytes for each UTF-16 unit. */
const SMALL = 16 * 1024
/** What small frames are written into, one behind the other. */
const SLAB_BYTES = 256 * 1024
/** What the beginning of a frame is kept in whose size is not known yet. */
const LEAST_KEPT = 1024

/** A u32 length, little endian, and the text in UTF-8. */
export function encodeFrame(text: string): Buffer {
  const room = text.length <= SMALL ? text.length * 3 : Buffer.byteLength(text)
  const frame = Buffer.allocUnsafe(HEADER + room)
  return frame.subarray(0, writeFrame(frame, text))
}

/** The same for callers that send many: small ones share one piece of memory, of which no byte is used twice. */
export class FrameEncoder {
  #slab = Buffer.alloc(0)
  #at = 0

  encode(text: string): Buffer {
    if (text.length > SMALL) return encodeFrame(text)
    if (this.#slab.length - this.#at < HEADER + text.length * 3) {
      this.#slab = Buffer.allocUnsafeSlow(SLAB_BYTES)
      this.#at = 0
    }
    const start = this.#at
    this.#at += writeFrame(this.#slab, text, start)
    return this.#slab.subarray(start, this.#at)
  }
}

/** Gives how many bytes were written. There must be room. */
function writeFrame(into: Buffer, text: string, at = 0): number {
  const size = into.write(text, at + HEADER)
  into.writeUInt32LE(size, at)
  return HEADER + size
}

/** Cuts a byte stream into frames. Throws when a frame is longer than allowed. */
export class FrameReader {
  readonly #maxBytes: number
  /** The beginning of a frame whose end has not come. */
  #kept = Buffer.alloc(0)
  #length = 0

  constructor(maxBytes = MAX_FRAME_BYTES) {
    this.#maxBytes = maxBytes
  }

  /**
   * The texts of the frames that `chunk` completes. The texts of the frames that `chunk` completes. The caller may reuse its
   * memory afterwards.
   */
  push(chunk: Buffer): string[] {
    const texts: string[] = []
    if (this.#length === 0) {
      this.#keep(chunk, this.#cut(chunk, chunk.length, texts))
      return texts
    }
    let from = 0
    while (from < chunk.length && this.#length > 0) from = this.#complete(chunk, from, texts)
    if (this.#length === 0 && from < chunk.length) {
      const rest = chunk.subarray(from)
      this.#keep(rest, this.#cut(rest, rest.length, texts))
    }
    return texts
  }

  /** Adds what is missing to the frame that is kept; gives up to where the chunk was needed. */
  #complete(chunk: Buffer, from: number, texts: string[]): number {
    const needed = this.#length < HEADER ? HEADER : HEADER + this.#size(this.#kept, 0)
    this.#reserve(needed)
    const end = Math.min(chunk.length, from + needed - this.#length)
    chunk.copy(this.#kept, this.#length, from, end)
    this.#length += end - from
    if (this.#length === needed && this.#cut(this.#kept, this.#length, texts) > 0) {
      this.#length = 0
      // A long one was an exception.
      this.#kept = Buffer.alloc(0)
    }
    return end
  }

  /** Reads the whole frames at the beginning; gives where they end. */
  #cut(bytes: Buffer, length: number, texts: string[]): number {
    let at = 0
    while (length - at >= HEADER) {
      const end = at + HEADER + this.#size(bytes, at)
      if (end > length) break
      texts.push(bytes.toString('utf8', at + HEADER, end))
      at = end
    }
    return at
  }

  #keep(chunk: Buffer, from: number): void {
    const length = chunk.length - from
    if (length === 0) return
    this.#reserve(length < HEADER ? HEADER : HEADER + this.#size(chunk, from))
    chunk.copy(this.#kept, 0, from)
    this.#length = length
  }

  #reserve(bytes: number): void {
    if (this.#kept.length >= bytes) return
    const larger = Buffer.allocUnsafe(Math.max(bytes, LEAST_KEPT))
    this.#kept.copy(larger, 0, 0, this.#length)
    this.#kept = larger
  }

  #size(bytes: Buffer, at: number): number {
    const size = bytes.readUInt32LE(at)
    if (size > this.#maxBytes) throw new Error(`A frame of ${size} bytes is too long`)
    return size
  }
}
