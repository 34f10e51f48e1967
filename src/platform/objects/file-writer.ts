import { createHash, randomUUID } from 'node:crypto'
import { closeSync, constants, fsync, openSync } from 'node:fs'
import { copyFile, link, mkdir, open, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

import { hasCode } from '#base/error-code.ts'
import { retry } from '#base/retry.ts'
import { diskFull } from '#platform/disk/disk-room.ts'

import { type Description, encodeHeader, etagOf } from './file-header.ts'
import { ObjectFault } from './object-fault.ts'
import { tooLong } from './object-rules.ts'
import type { ObjectBody, ObjectHead } from './object-store.ts'
import type { SharedFlushes } from './shared-flushes.ts'

const PUBLISH_ATTEMPTS = 10
/** The disk is full, or the user's quota is. */
const FULL = ['ENOSPC', 'EDQUOT']

export interface Destination {
  readonly temporaryFolder: string
  readonly path: string
  readonly flushes: SharedFlushes
}

export interface WriteRules {
  readonly maxBytes: number | undefined
  readonly onlyNew: boolean
  readonly now: Date
}

/**
 * Writes beside, flushes, then publishes by one rename: a crash leaves the old object or the new one, and never a part.
 * `DiskFull` when the disk is.
 */
export async function writeObjectFile(
  destination: Destination,
  description: Description,
  body: ObjectBody,
  rules: WriteRules,
): Promise<ObjectHead> {
  const temporary = join(destination.temporaryFolder, randomUUID())
  try {
    const head = await writeTemporary(temporary, description, body, rules)
    await publish(temporary, destination, rules.onlyNew)
    return head
  } catch (error) {
    await rm(temporary, { force: true })
    throw hasCode(error, ...FULL) ? diskFull('The object store', error) : error
  }
}

async function writeTemporary(
  path: string,
  description: Description,
  body: ObjectBody,
  { maxBytes, now }: WriteRules,
): Promise<ObjectHead> {
  if (body instanceof Uint8Array) return writeWhole(path, description, body, { maxBytes, now })
  const file = await open(path, 'wx', 0o600)
  try {
    const md5 = createHash('md5')
    const unknown = { sizeBytes: 0, lastModified: now, md5: Buffer.alloc(16) }
    const placeholder = encodeHeader(description, unknown)
    await file.appendFile(placeholder)
    let sizeBytes = 0
    for await (const chunk of body) {
      sizeBytes += chunk.byteLength
      if (maxBytes !== undefined && sizeBytes > maxBytes) throw tooLong(maxBytes)
      md5.update(chunk)
      await file.appendFile(chunk)
    }
    const measure = { sizeBytes, lastModified: now, md5: md5.digest() }
    await file.write(encodeHeader(description, measure), 0, placeholder.length, 0)
    await file.sync()
    return { ...description, sizeBytes, lastModified: now, etag: etagOf(measure.md5) }
  } finally {
    await file.close()
  }
}

/** What is at hand as a whole is described first: one write instead of three. */
async function writeWhole(
  path: string,
  description: Description,
  body: Uint8Array,
  { maxBytes, now }: Pick<WriteRules, 'maxBytes' | 'now'>,
): Promise<ObjectHead> {
  const sizeBytes = body.byteLength
  if (maxBytes !== undefined && sizeBytes > maxBytes) throw tooLong(maxBytes)
  const md5 = createHash('md5').update(body).digest()
  const measure = { sizeBytes, lastModified: now, md5 }
  await writeFlushed(path, Buffer.concat([encodeHeader(description, measure), body]))
  return { ...description, sizeBytes, lastModified: now, etag: etagOf(md5) }
}

/**
 * On Linux in one go, because each step comes back through the event loop: `O_DSYNC` makes the write itself durable, and fail
 * where it is not. Bun's `flush` option says nothing of a flush that failed.
 */
async function writeFlushed(path: string, bytes: Uint8Array): Promise<void> {
  if (process.platform === 'linux') {
    const { O_CREAT, O_DSYNC, O_EXCL, O_WRONLY } = constants
    return writeFile(path, bytes, { flag: O_WRONLY | O_CREAT | O_EXCL | O_DSYNC, mode: 0o600 })
  }
  const file = await open(path, 'wx', 0o600)
  try {
    await file.appendFile(bytes)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Gives a file a second name, or a copy where the file system knows no such thing. False when there is no file. */
export async function linkObjectFile(from: string, to: string): Promise<boolean> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  try {
    await link(from, to).catch(async (error: unknown) => {
      if (!hasCode(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'EXDEV', 'EMLINK')) throw error
      const unfinished = `${to}.${randomUUID()}`
      await copyFile(from, unfinished)
      await rename(unfinished, to)
    })
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return true
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
  return true
}

/** Makes the folder when it is missed: a delete may take an empty one away between its making and the rename. */
async function publish(
  temporary: string,
  { path, flushes }: Destination,
  onlyNew: boolean,
): Promise<void> {
  const folder = dirname(path)
  let outermost = folder
  const attempt = async (): Promise<void> => {
    try {
      await (onlyNew ? moveToNew(temporary, path) : rename(temporary, path))
    } catch (error) {
      if (hasCode(error, 'ENOENT')) {
        const created = await mkdir(folder, { recursive: true, mode: 0o700 })
        if (created !== undefined) outermost = dirname(created)
      }
      throw error
    }
  }
  await retry(attempt, {
    attempts: PUBLISH_ATTEMPTS,
    isRetryable: (error) => hasCode(error, 'ENOENT'),
  })
  for (const each of foldersBetween(outermost, folder)) await flushes.flush(each)
}

async function moveToNew(temporary: string, path: string): Promise<void> {
  try {
    await link(temporary, path)
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
    throw new ObjectFault('PreconditionFailed', 'An object with this key exists already')
  }
  await rm(temporary, { force: true })
}

/**
 * From the first folder that was there before to the innermost. That one is shared with others: its flush is too, and with
 * a journal leaves little to do for the folders inside.
 */
function foldersBetween(outermost: string, innermost: string): string[] {
  const folders: string[] = []
  for (let folder = innermost; ; folder = dirname(folder)) {
    folders.unshift(folder)
    if (folder === outermost || folder === dirname(folder)) return folders
  }
}

/**
 * Makes renames and removals in a folder durable. A folder that is gone, and Windows, have nothing to flush. It is opened at
 * once: that takes microseconds where it was just written to, and many wait for each flush.
 */
export async function flushFolder(folder: string): Promise<void> {
  const descriptor = process.platform === 'win32' ? undefined : openedFolder(folder)
  if (descriptor === undefined) return
  try {
    await flushed(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

const flushed = promisify(fsync)

function openedFolder(folder: string): number | undefined {
  try {
    return openSync(folder, 'r')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}
