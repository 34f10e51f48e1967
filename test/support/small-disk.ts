import { execFileSync } from 'node:child_process'
import { chmod, mkdtemp, open, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { hasCode } from '#base/error-code.ts'

const MIB = 1024 * 1024
const BLOCK = Buffer.alloc(MIB, 'x')

/** Who may not mount has no small disk. */
export const canMount = process.platform === 'linux' && process.getuid?.() === 0

/** A file system of its own, which a test can fill. */
export class SmallDisk implements AsyncDisposable {
  readonly folder: string

  private constructor(folder: string) {
    this.folder = folder
  }

  static async mount(megabytes: number): Promise<SmallDisk> {
    const folder = await mkdtemp(join(tmpdir(), 'croft-disk-'))
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'croft-test', folder])
    await chmod(folder, 0o755)
    return new SmallDisk(folder)
  }

  async freeMegabytes(): Promise<number> {
    const { bavail, bsize } = await statfs(this.folder)
    return Math.floor((bavail * bsize) / MIB)
  }

  /** Writes a file until nothing is left, or so much. */
  async fill(name: string, leave = 0): Promise<void> {
    const file = await open(join(this.folder, name), 'a')
    try {
      for (;;) {
        if (leave > 0 && (await this.freeMegabytes()) <= leave) return
        await file.writeFile(BLOCK)
      }
    } catch (error) {
      if (!hasCode(error, 'ENOSPC')) throw error
    } finally {
      await file.close()
    }
  }

  async empty(name: string): Promise<void> {
    await rm(join(this.folder, name), { force: true })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    execFileSync('umount', ['--lazy', this.folder])
    await rm(this.folder, { recursive: true, force: true })
  }
}
