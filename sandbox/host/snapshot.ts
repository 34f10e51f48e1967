import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'

import ivm from 'isolated-vm'

import { withSmallCaches } from './v8-flags.ts'
import { warmUpScript } from './warm-up.ts'

const DIGEST_BYTES = 32

/** Where the service keeps a snapshot, and where this process may put one for it to keep. */
interface SnapshotPaths {
  readonly kept: string
  readonly draft: string
}

/**
 * The file with the prelude's V8 snapshot: the one that is kept, or one that is made. A damaged file is not used: V8
 * itself would crash on it.
 */
export function snapshotFile(prelude: string, { kept, draft }: SnapshotPaths): string {
  if (readSnapshotBytes(kept)) return kept
  const snapshot = withSmallCaches(() =>
    ivm.Isolate.createSnapshot([{ code: prelude, filename: 'croft:prelude' }], warmUpScript()),
  )
  const bytes = new Uint8Array(snapshot.copy())
  writeFileSync(draft, Buffer.concat([digest(bytes), bytes]))
  return draft
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
