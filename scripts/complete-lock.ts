/**
 * Run it after each `npm install`: a registry that lacks a package for some other platform makes npm leave it out of the
 * lock file, and `npm ci` then refuses the file.
 */
import { readFile, writeFile } from 'node:fs/promises'

import { LOCK_FILES, type LockFile, completed, missingPackages } from './lock-file.ts'

for (const path of LOCK_FILES) {
  const lock: LockFile = JSON.parse(await readFile(path, 'utf8'))
  await writeFile(path, `${JSON.stringify(completed(lock), null, 2)}\n`)
  console.log(`${missingPackages(lock).length} packages of other platforms added to ${path}`)
}
