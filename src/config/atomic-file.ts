import { randomBytes } from 'node:crypto'
import { link, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

import { hasCode } from '#base/error-code.ts'

/** Replaces a file: readers see the old text or the new one, whole, also after a power cut. */
export async function writeFileAtomically(path: string, text: string, mode = 0o600): Promise<void> {
  const unfinished = await writeBeside(path, text, mode)
  await rename(unfinished, path)
  await syncFolder(dirname(path))
}

/** Creates a file in the same way. Returns false and changes nothing when it exists; it is durable then, too. */
export async function createFileAtomically(
  path: string,
  text: string,
  mode = 0o600,
): Promise<boolean> {
  const unfinished = await writeBeside(path, text, mode)
  try {
    const isNew = await link(unfinished, path).then(
      () => true,
      (error: unknown) => {
        if (hasCode(error, 'EEXIST')) return false
        throw error
      },
    )
    // Also where it exists: another process may have been killed before it did this.
    await syncFolder(dirname(path))
    return isNew
  } finally {
    await rm(unfinished, { force: true })
  }
}

async function writeBeside(path: string, text: string, mode: number): Promise<string> {
  const unfinished = `${path}.${randomBytes(6).toString('hex')}`
  await writeNewFile(unfinished, text, mode)
  return unfinished
}

/** Writes a file that is not there yet, and its bytes to the disk; its name is durable once its folder is synced. */
export async function writeNewFile(
  path: string,
  content: string | Uint8Array,
  mode: number,
): Promise<void> {
  const file = await open(path, 'wx', mode)
  try {
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Makes what was created, renamed or removed in a folder durable. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Makes a folder and those above it that are missing, durably. Returns the outermost that it made. */
export async function makeFolderDurably(path: string, mode?: number): Promise<string | undefined> {
  const first = await mkdir(path, { recursive: true, ...(mode === undefined ? {} : { mode }) })
  const outermost = dirname(first ?? path)
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    await syncFolder(folder).catch((error: unknown) => {
      // A folder that others have made, and may not be listed.
      if (!hasCode(error, 'EACCES', 'EPERM')) throw error
    })
    if (folder === outermost) return first
  }
}
