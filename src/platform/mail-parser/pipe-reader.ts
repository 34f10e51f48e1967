import type { Readable } from 'node:stream'

/** Reads a byte stream piece by piece, and no faster than it is asked to. */
export class PipeReader {
  readonly #chunks: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(stream: Readable) {
    this.#chunks = stream[Symbol.asyncIterator]()
  }

  /** Rejects when the stream ends before that many bytes came. */
  async bytes(length: number): Promise<Buffer> {
    const pieces: Buffer[] = []
    for (let missing = length; missing > 0;) {
      const piece = await this.#next(missing)
      pieces.push(piece)
      missing -= piece.length
    }
    return pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces)
  }

  /** The next bytes as a stream, which is read to its end before anything else. */
  stream(length: number): ReadableStream<Uint8Array> {
    let missing = length
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          if (missing === 0) return controller.close()
          const piece = await this.#next(missing)
          missing -= piece.length
          controller.enqueue(new Uint8Array(piece))
          if (missing === 0) controller.close()
        },
      },
      { highWaterMark: 0 },
    )
  }

  async #next(maxLength: number): Promise<Buffer> {
    while (this.#rest.length === 0) {
      const { done, value } = await this.#chunks.next()
      if (done === true) throw new Error('The stream ended too early')
      this.#rest = value
    }
    const piece = this.#rest.subarray(0, maxLength)
    this.#rest = this.#rest.subarray(piece.length)
    return piece
  }
}
