import { randomUUID } from 'node:crypto'
import {
  access,
  constants,
  link,
  mkdir,
  readFile,
  readdir,
  rename,
  rm,
  stat,
} from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { hasCode, ifMissing } from '#base/error-code.ts'
import { makeFolderDurably, writeNewFile } from '#config/atomic-file.ts'
import { SetupError } from '#config/setup-error.ts'
import { DurableFolders } from '#platform/disk/durable-folders.ts'

import type { BackupPlace } from './backup-place.ts'

/** What a crash left among unfinished files is removed once no process can be using it. */
const ABANDONED_AFTER_MS = 24 * 3_600_000
const INCOMING = 'incoming'

/** A folder of this machine, or one that is mounted. Its files are readable by their owner alone. */
export class FolderPlace implements BackupPlace {
  readonly address: string
  readonly #folders: DurableFolders

  private constructor(folder: string) {
    this.address = folder
    this.#folders = new DurableFolders(folder)
  }

  /** Makes the folder when it is missing, except for reading. */
  static async open(folder: string, purpose: 'read' | 'write'): Promise<FolderPlace> {
    try {
      if (purpose === 'write') {
        await makeFolderDurably(folder, 0o700)
        await mkdir(join(folder, INCOMING), { recursive: true, mode: 0o700 })
      }
      await access(folder, purpose === 'read' ? constants.R_OK : constants.R_OK | constants.W_OK)
    } catch (cause) {
      throw new SetupError(
        `The folder "${folder}" of backups cannot be ${purpose === 'read' ? 'read' : 'written'}: ${cause instanceof Error ? cause.message : String(cause)}`,
        { cause },
      )
    }
    const place = new FolderPlace(folder)
    if (purpose === 'write') await place.#clear()
    return place
  }

  read(name: string): Promise<Buffer | undefined> {
    return readFile(this.#path(name)).catch(ifMissing(undefined))
  }

  async write(name: string, bytes: Uint8Array): Promise<void> {
    const unfinished = await this.#beside(bytes)
    await this.#publish(name, () => rename(unfinished, this.#path(name)))
  }

  async create(name: string, bytes: Uint8Array): Promise<boolean> {
    const unfinished = await this.#beside(bytes)
    try {
      await this.#publish(name, () => link(unfinished, this.#path(name)))
      return true
    } catch (error) {
      if (hasCode(error, 'EEXIST')) return false
      throw error
    } finally {
      await rm(unfinished, { force: true })
    }
  }

  async *list(folder: string): AsyncGenerator<string> {
    const entries = await readdir(this.#path(folder), { withFileTypes: true }).catch(ifMissing([]))
    for (const entry of entries) {
      const name = `${folder}/${entry.name}`
      if (entry.isDirectory()) yield* this.list(name)
      else if (entry.isFile()) yield name
    }
  }

  async delete(name: string): Promise<void> {
    await rm(this.#path(name), { force: true })
  }

  flush(folder: string): Promise<void> {
    return this.#folders.flush(this.#path(folder))
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  async #beside(bytes: Uint8Array): Promise<string> {
    const unfinished = join(this.#path(INCOMING), randomUUID())
    try {
      await writeNewFile(unfinished, bytes, 0o600)
    } catch (cause) {
      await rm(unfinished, { force: true })
      if (!hasCode(cause, 'ENOSPC', 'EDQUOT')) throw cause
      throw new SetupError(
        `The disk of "${this.address}" is full: make room ("croft backup prune --from ${this.address} --keep 7" deletes old backups), and run it again`,
        { cause },
      )
    }
    return unfinished
  }

  async #publish(name: string, move: () => Promise<void>): Promise<void> {
    const folder = dirname(this.#path(name))
    try {
      await move()
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error
      await this.#folders.make(folder)
      await move()
    }
    await this.#folders.flush(folder)
  }

  async #clear(): Promise<void> {
    for await (const name of this.list(INCOMING)) {
      const found = await stat(this.#path(name)).catch(ifMissing(undefined))
      if (found && Date.now() - found.mtimeMs > ABANDONED_AFTER_MS) await this.delete(name)
    }
  }

  #path(name: string): string {
    return join(this.address, name)
  }
}
