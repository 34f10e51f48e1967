import { randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'

const READ_BYTES = 256 * 1024

/** Bytes on the disk for as long as they are needed. The file has no name, so a killed process leaves none. */
export class TemporaryFile implements AsyncDisposable {
  readonly #file: FileHandle
  #sizeBytes = 0

  private constructor(file: FileHandle) {
    this.#file = file
  }

  static async open(folder: string): Promise<TemporaryFile> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const path = join(folder, `archive-${randomUUID()}`)
    const file = await open(path, 'wx+', 0o600)
    await rm(path)
    return new TemporaryFile(file)
  }

  get sizeBytes(): number {
    return this.#sizeBytes
  }

  /** Writes all of them behind what is there. */
  async append(bytes: Uint8Array): Promise<void> {
    for (let done = 0; done < bytes.byteLength;) {
      const left = bytes.byteLength - done
      const { bytesWritten } = await this.#file.write(bytes, done, left, this.#sizeBytes)
      done += bytesWritten
      this.#sizeBytes += bytesWritten
    }
  }

  async *read(start = 0, end = this.#sizeBytes): AsyncGenerator<Buffer, void, undefined> {
    for (let at = start; at < end;) {
      const length = Math.min(READ_BYTES, end - at)
      const { bytesRead, buffer } = await this.#file.read(Buffer.alloc(length), 0, length, at)
      if (bytesRead === 0) throw new Error('A temporary file is shorter than it was')
      at += bytesRead
      yield buffer.subarray(0, bytesRead)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close()
  }
}
