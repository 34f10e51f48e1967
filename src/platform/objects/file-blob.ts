import { openAsBlob } from 'node:fs'
import { link, rm } from 'node:fs/promises'

/** The server opens a blob's file when it begins to send, right after it was handed over. */
const KEPT_MS = 60_000

/** Whether the server of this runtime tells the length of a blob's file, but not that of a stream (Bun 1.4). */
const tellsLengthOfFiles = process.versions['bun'] !== undefined

/**
 * The file's bytes as they are now, as a blob: `name`, a path of its own for the file, outlives a replacement of `path` and
 * is removed after a minute. Undefined where a stream does as well, or the file system has no hard links.
 */
export async function blobOfFile(path: string, name: string): Promise<Blob | undefined> {
  if (!tellsLengthOfFiles) return undefined
  try {
    await link(path, name)
  } catch {
    return undefined
  }
  const timer = setTimeout(() => void rm(name, { force: true }), KEPT_MS)
  timer.unref()
  return openAsBlob(name)
}
