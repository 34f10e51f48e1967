import { randomBytes } from 'node:crypto'
import { open, rename, rm, stat } from 'node:fs/promises'

const MIB = 1024 * 1024
export const BALLAST_BYTES = 64 * MIB

/**
 * A file that only takes room, next to the embedded database. When other programs have filled the disk it is removed, and the
 * database has enough to go on, or to start.
 */
export class Ballast {
  readonly #path: string

  constructor(path: string) {
    this.#path = path
  }

  async exists(): Promise<boolean> {
    return stat(this.#path).then(
      () => true,
      () => false,
    )
  }

  /** True when it took room until now. */
  async release(): Promise<boolean> {
    if (!(await this.exists())) return false
    await rm(this.#path, { force: true })
    return true
  }

  /** Takes the room again, with bytes that no file system makes small. */
  async restore(): Promise<void> {
    const unfinished = `${this.#path}.new`
    try {
      const file = await open(unfinished, 'w', 0o600)
      const block = randomBytes(MIB)
      try {
        for (let bytes = 0; bytes < BALLAST_BYTES; bytes += MIB) await file.write(block)
        // Only then is the room taken: until then many file systems have merely promised it.
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(unfinished, this.#path)
    } catch (error) {
      await rm(unfinished, { force: true })
      throw error
    }
  }
}
