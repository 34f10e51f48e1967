const FIRST_BLOCK_BYTES = 4 * 1024
const LAST_BLOCK_BYTES = 1024 * 1024

/**
 * A body as it arrives, in blocks of its own: a chunk of one byte that is kept holds a hundred. Blocks grow, so that what is
 * held is at most some twice what has arrived.
 */
export class ByteBlocks {
  readonly #full: Uint8Array[] = []
  #last = new Uint8Array(0)
  #used = 0
  #sizeBytes = 0
  #heldBytes = 0

  get sizeBytes(): number {
    return this.#sizeBytes
  }

  /** The memory in use: what has arrived and the unused rest of the last block. */
  get heldBytes(): number {
    return this.#heldBytes
  }

  add(chunk: Uint8Array): void {
    this.#sizeBytes += chunk.byteLength
    let rest = chunk
    while (rest.byteLength > 0) {
      if (this.#used === this.#last.byteLength) this.#addBlock()
      const part = rest.subarray(0, this.#last.byteLength - this.#used)
      this.#last.set(part, this.#used)
      this.#used += part.byteLength
      rest = rest.subarray(part.byteLength)
    }
  }

  /** Everything, in one piece. */
  join(): Buffer<ArrayBuffer> {
    return Buffer.concat([...this.#full, this.#last.subarray(0, this.#used)])
  }

  #addBlock(): void {
    if (this.#used > 0) this.#full.push(this.#last)
    const sizeBytes = Math.min(LAST_BLOCK_BYTES, Math.max(FIRST_BLOCK_BYTES, this.#sizeBytes))
    this.#last = new Uint8Array(sizeBytes)
    this.#used = 0
    this.#heldBytes += sizeBytes
  }
}
