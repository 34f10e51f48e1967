import {
  Z_BUF_ERROR,
  Z_FINISH,
  Z_NO_FLUSH,
  Z_OK,
  Z_STREAM_END,
  zlibDeflate,
  zlibDeflateInit2,
  zlibInflate,
  zlibInflateInit2,
  ZStream,
} from 'pako'

import type { Codec, CompressionFormat } from './compression-streams.ts'
import { sliceBytes, TypeErrorClass } from './primordials.ts'

/** What a codec gives at once. */
const CHUNK_BYTES = 64 * 1024
const LEVEL = 6
const DEFLATED = 8
const MEMORY_LEVEL = 8
/** Selects the container in zlib: by the size of the window, made larger or negative. */
const WINDOW_BITS: Readonly<Record<CompressionFormat, number>> = {
  deflate: 15,
  'deflate-raw': -15,
  gzip: 31,
}

export function createCompressor(format: CompressionFormat): Codec {
  const stream = new ZStream()
  zlibDeflateInit2(stream, LEVEL, DEFLATED, WINDOW_BITS[format], MEMORY_LEVEL, 0)
  const output = new Uint8Array(CHUNK_BYTES)
  let flush: 0 | 4 = Z_NO_FLUSH
  let isOver = false
  return {
    push: (bytes) => give(stream, bytes),
    finish: () => {
      give(stream, new Uint8Array())
      flush = Z_FINISH
    },
    next() {
      if (isOver) return undefined
      offer(stream, output)
      isOver = zlibDeflate(stream, flush) === Z_STREAM_END
      return taken(stream)
    },
    end: () => {},
  }
}

export function createDecompressor(format: CompressionFormat): Codec {
  const stream = new ZStream()
  zlibInflateInit2(stream, WINDOW_BITS[format])
  const output = new Uint8Array(CHUNK_BYTES)
  let isOver = false
  return {
    push: (bytes) => give(stream, bytes),
    finish: () => {},
    next() {
      if (isOver) {
        if (stream.avail_in > 0) throw malformed('something comes after its end')
        return undefined
      }
      offer(stream, output)
      const status = zlibInflate(stream, Z_NO_FLUSH)
      if (status !== Z_OK && status !== Z_BUF_ERROR && status !== Z_STREAM_END)
        throw malformed(stream.msg === '' ? 'it is damaged' : stream.msg)
      isOver = status === Z_STREAM_END
      return taken(stream) ?? (isOver ? this.next() : undefined)
    },
    end: () => {
      if (!isOver) throw malformed('it ends early')
    },
  }
}

function give(stream: ZStream, bytes: Uint8Array): void {
  stream.input = bytes
  stream.next_in = 0
  stream.avail_in = bytes.length
}

function offer(stream: ZStream, output: Uint8Array<ArrayBuffer>): void {
  stream.output = output
  stream.next_out = 0
  stream.avail_out = output.length
}

const taken = ({ output, next_out: size }: ZStream): Uint8Array<ArrayBuffer> | undefined =>
  size > 0 ? sliceBytes(output, 0, size) : undefined

const malformed = (why: string): TypeError =>
  new TypeErrorClass(`The compressed data was not valid: ${why}.`)
