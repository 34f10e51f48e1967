import { statfs } from 'node:fs/promises'

export interface FreeSpace {
  /** What users other than root may still write. */
  readonly freeBytes: number
  readonly totalBytes: number
}

/** Files that can still be made, below which a file system counts as full: many small ones end before their bytes do. */
const FILES_RESERVE = 1000

/** What the file system of a folder has left. */
export async function freeSpaceOf(folder: string): Promise<FreeSpace> {
  const { bsize, bavail, blocks, files, ffree } = await statfs(folder)
  // Some file systems make room for files as they are needed, and say that they have none.
  const hasFiles = files === 0 || ffree > FILES_RESERVE
  return { freeBytes: hasFiles ? bavail * bsize : 0, totalBytes: blocks * bsize }
}
