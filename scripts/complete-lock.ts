/**
 * Run it after each `npm install`: a registry that lacks a package for some other platform makes npm leave it out of the
 * lock file, and `npm ci` then refuses the file.
 */
import { readFile, writeFile } from 'node:fs/promises'

import { type LockFile, completed, missingPackages } from './lock-file.ts'

const LOCK = new URL('../package-lock.json', import.meta.url)
const lock: LockFile = JSON.parse(await readFile(LOCK, 'utf8'))
await writeFile(LOCK, `${JSON.stringify(completed(lock), null, 2)}\n`)
console.log(`${missingPackages(lock).length} packages of other platforms added`)
