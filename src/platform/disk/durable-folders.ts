import { closeSync, fsync, openSync } from 'node:fs'
import { mkdir, rmdir } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { promisify } from 'node:util'

import { hasCode } from '#base/error-code.ts'

import { SharedFlushes } from './shared-flushes.ts'

/** Paths of some hundred bytes each. With more folders than that, the ones above them are flushed again. */
const MAX_KNOWN = 10_000

/**
 * Folders below a root whose names survive a power cut. A folder is visible to all before its name is on the disk, and a process
 * that was killed may have made it: so the first flush of each includes those above it.
 */
export class DurableFolders {
  readonly #root: string
  readonly #flushes: SharedFlushes
  /** Their names are on the disk, and those of all above them. */
  readonly #known = new Set<string>()
  #changes = 0

  constructor(root: string, flush: (folder: string) => Promise<void> = flushFolder) {
    this.#root = resolve(root)
    this.#flushes = new SharedFlushes(flush)
  }

  /** Makes what was created, renamed or removed in a folder durable, and the names of the folders on the way to it. */
  async flush(folder: string): Promise<void> {
    const changes = this.#changes
    for (const each of this.#unknown(folder)) {
      await this.#flushes.flush(dirname(each))
      // Another one of that name may have come in between.
      if (changes === this.#changes) this.#remember(each)
    }
    await this.#flushes.flush(folder)
  }

  async make(folder: string): Promise<void> {
    const path = resolve(folder)
    const first = await mkdir(path, { recursive: true, mode: 0o700 })
    if (first === undefined) return
    for (let each = path; each.length >= first.length; each = dirname(each)) this.#forget(each)
  }

  /** Rejects when it is not empty. */
  async remove(folder: string): Promise<void> {
    await rmdir(folder)
    this.#forget(folder)
  }

  /** The outermost first: with a journal it leaves little to do for those inside. */
  #unknown(folder: string): readonly string[] {
    const unknown: string[] = []
    let each = resolve(folder)
    for (; each !== this.#root && !this.#known.has(each); each = dirname(each))
      unknown.unshift(each)
    return unknown
  }

  #remember(folder: string): void {
    if (this.#known.size >= MAX_KNOWN) this.#known.clear()
    this.#known.add(folder)
  }

  #forget(folder: string): void {
    this.#changes += 1
    this.#known.delete(folder)
  }
}

/**
 * Makes renames and removals in a folder durable. A folder that is gone, and Windows, have nothing to flush. It is opened at
 * once: that takes microseconds where it was just written to, and many wait for each flush.
 */
export async function flushFolder(folder: string): Promise<void> {
  const descriptor = process.platform === 'win32' ? undefined : openedFolder(folder)
  if (descriptor === undefined) return
  try {
    await flushed(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

const flushed = promisify(fsync)

function openedFolder(folder: string): number | undefined {
  try {
    return openSync(folder, 'r')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}
