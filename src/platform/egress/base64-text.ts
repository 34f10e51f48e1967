/** A whole number of groups of three: the text of such a block has no padding. */
const FIRST_BLOCK_BYTES = 3 * 1024
const LAST_BLOCK_BYTES = 768 * 1024

/**
 * Bytes as base64, written as they come: what is held is the text and one block. A chunk of one byte that was kept would hold a
 * hundred.
 */
export class Base64Text {
  #text = ''
  #block = Buffer.alloc(FIRST_BLOCK_BYTES)
  #used = 0
  #sizeBytes = 0

  /** The number of bytes that were added. */
  get sizeBytes(): number {
    return this.#sizeBytes
  }

  add(chunk: Uint8Array): void {
    this.#sizeBytes += chunk.byteLength
    let at = 0
    while (at < chunk.byteLength) {
      const part = chunk.subarray(at, at + this.#block.byteLength - this.#used)
      this.#block.set(part, this.#used)
      this.#used += part.byteLength
      at += part.byteLength
      if (this.#used === this.#block.byteLength) this.#write()
    }
  }

  end(): string {
    return this.#text + this.#block.toString('base64', 0, this.#used)
  }

  #write(): void {
    this.#text += this.#block.toString('base64')
    this.#used = 0
    const { byteLength } = this.#block
    if (byteLength < LAST_BLOCK_BYTES) this.#block = Buffer.alloc(byteLength * 2)
  }
}
