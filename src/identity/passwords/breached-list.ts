import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { installRoot } from '#config/install-root.ts'

/** The first bytes of each password's SHA-256, in ascending order: 100,000 of them take no more than 600 kB, and no time to read. */
const FILE = join(installRoot(), 'resources/breached-passwords.bin')
/** Of so many others one in three thousand million is taken for one of them. */
const ENTRY_BYTES = 6

/** The commonest passwords of 8 characters and more that were stolen somewhere, whatever their case. */
export class BreachedList {
  #list: Promise<Buffer> | undefined

  async has(password: string): Promise<boolean> {
    this.#list ??= readFile(FILE)
    return includes(await this.#list, breachedEntryOf(password))
  }
}

/** As the list keeps a password. */
export const breachedEntryOf = (password: string): Buffer =>
  createHash('sha256').update(password.toLowerCase()).digest().subarray(0, ENTRY_BYTES)

function includes(list: Buffer, entry: Buffer): boolean {
  let [low, high] = [0, list.length / ENTRY_BYTES]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const at = middle * ENTRY_BYTES
    const order = list.subarray(at, at + ENTRY_BYTES).compare(entry)
    if (order === 0) return true
    if (order < 0) low = middle + 1
    else high = middle
  }
  return false
}
