import { randomUUID } from 'node:crypto'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { tooLong } from './object-rules.ts'

/** Below this nothing touches the disk. */
const MEMORY_BYTES = 1024 * 1024

/** A body whose length is known: S3 wants to be told before the first byte. */
export interface Spooled extends AsyncDisposable {
  readonly sizeBytes: number
  readonly bytes: Uint8Array | undefined
  /** Where the body is when it was too long for memory. */
  readonly path: string | undefined
}

/** Reads a stream to its end, a long one into a file of its own that disposing removes. */
export async function spool(
  body: ReadableStream<Uint8Array>,
  maxBytes: number | undefined,
): Promise<Spooled> {
  const target = new SpoolTarget()
  try {
    for await (const chunk of body) {
      if (maxBytes !== undefined && target.sizeBytes + chunk.byteLength > maxBytes) {
        throw tooLong(maxBytes)
      }
      await target.add(chunk)
    }
    return await target.finished()
  } catch (error) {
    await target[Symbol.asyncDispose]()
    throw error
  }
}

class SpoolTarget implements AsyncDisposable {
  sizeBytes = 0
  readonly #path = join(tmpdir(), `croft-upload-${randomUUID()}`)
  #chunks: Uint8Array[] = []
  #file: FileHandle | undefined

  async add(chunk: Uint8Array): Promise<void> {
    this.sizeBytes += chunk.byteLength
    this.#chunks.push(chunk)
    if (this.sizeBytes > MEMORY_BYTES) await this.#flush()
  }

  async finished(): Promise<Spooled> {
    const spilled = this.#file !== undefined
    if (spilled) {
      await this.#flush()
      await this.#file?.close()
    }
    const path = spilled ? this.#path : undefined
    return {
      sizeBytes: this.sizeBytes,
      bytes: spilled ? undefined : Buffer.concat(this.#chunks),
      path,
      async [Symbol.asyncDispose]() {
        if (path !== undefined) await rm(path, { force: true })
      },
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#file) return
    await this.#file.close()
    await rm(this.#path, { force: true })
  }

  async #flush(): Promise<void> {
    this.#file ??= await open(this.#path, 'wx', 0o600)
    await this.#file.appendFile(Buffer.concat(this.#chunks))
    this.#chunks = []
  }
}
