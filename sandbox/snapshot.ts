import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import ivm from 'isolated-vm'

const DIGEST_BYTES = 32

/**
 * The prelude's V8 snapshot, from the cache folder or made and put there. A damaged file is made again: V8 itself
 * would crash on it. The folder must be private to the service, since a snapshot is as powerful as machine code.
 */
export function snapshotFile(prelude: string, cacheDir: string): string {
  const key = createHash('sha256').update(process.versions.v8).update('\0').update(prelude)
  const path = join(cacheDir, `prelude-${key.digest('hex').slice(0, 32)}.snapshot`)
  if (readSnapshotBytes(path)) return path
  const bytes = new Uint8Array(
    ivm.Isolate.createSnapshot([{ code: prelude, filename: 'croft:prelude' }]).copy(),
  )
  mkdirSync(cacheDir, { recursive: true, mode: 0o700 })
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  writeFileSync(draft, Buffer.concat([digest(bytes), bytes]), { mode: 0o600 })
  renameSync(draft, path)
  return path
}

export function loadSnapshot(path: string): ivm.ExternalCopy<ArrayBuffer> {
  const bytes = readSnapshotBytes(path)
  if (!bytes) throw new Error(`The snapshot file "${path}" is missing or damaged`)
  const copy = new Uint8Array(bytes)
  return new ivm.ExternalCopy(copy.buffer)
}

function readSnapshotBytes(path: string): Uint8Array | undefined {
  try {
    const file = readFileSync(path)
    const bytes = file.subarray(DIGEST_BYTES)
    return digest(bytes).equals(file.subarray(0, DIGEST_BYTES)) ? bytes : undefined
  } catch {
    return undefined
  }
}

const digest = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest()
