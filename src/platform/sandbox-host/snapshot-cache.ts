import { createHash, randomBytes } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs'
import { dirname, join } from 'node:path'

/** Where the snapshot that such a Node makes of those scripts is kept. */
export function snapshotPathOf(cacheDir: string, scripts: readonly string[], node: string): string {
  const { size, mtimeMs } = statSync(node)
  const key = createHash('sha256').update(JSON.stringify([node, size, mtimeMs, ...scripts]))
  return join(cacheDir, `prelude-${key.digest('hex').slice(0, 32)}.snapshot`)
}

/**
 * Keeps what a host has made because there was none. A snapshot is as powerful as machine code, so it is taken only from
 * a host that has run no site's code, and its folder must be private to the service.
 */
export function adoptSnapshot(draftPath: string, snapshotPath: string): void {
  if (statSync(draftPath).size === 0) return
  const unfinished = `${snapshotPath}.${randomBytes(6).toString('hex')}`
  try {
    mkdirSync(dirname(snapshotPath), { recursive: true, mode: 0o700 })
    copyFileSync(draftPath, unfinished)
    // Hosts of another user read it, though none may look into the folder.
    chmodSync(unfinished, 0o644)
    renameSync(unfinished, snapshotPath)
    truncateSync(draftPath)
  } catch {
    // The next host makes its own again.
    rmSync(unfinished, { force: true })
  }
}
