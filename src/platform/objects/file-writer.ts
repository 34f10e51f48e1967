import { createHash, randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { copyFile, link, open, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { hasCode } from '#base/error-code.ts'
import { retry } from '#base/retry.ts'
import { diskFull } from '#platform/disk/disk-room.ts'
import type { DurableFolders } from '#platform/disk/durable-folders.ts'

import { type Description, encodeHeader, etagOf } from './file-header.ts'
import { ObjectFault } from './object-fault.ts'
import { tooLong } from './object-rules.ts'
import type { ObjectBody, ObjectHead } from './object-store.ts'

const PUBLISH_ATTEMPTS = 10
/** The disk is full, or the user's quota is. */
const FULL = ['ENOSPC', 'EDQUOT']

export interface Destination {
  readonly temporaryFolder: string
  readonly path: string
  /** Those of the tree that the path is in. */
  readonly folders: DurableFolders
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

/** An object that is a whole buffer is described first: one write instead of three. */
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

/**
 * Gives a file a second name, or a copy where the file system has no links, as durably as it was written. False when there is no
 * file.
 */
export async function linkObjectFile(
  from: string,
  to: string,
  folders: DurableFolders,
): Promise<boolean> {
  await folders.make(dirname(to))
  try {
    await link(from, to).catch(async (error: unknown) => {
      if (!hasCode(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'EXDEV', 'EMLINK')) throw error
      const unfinished = `${to}.${randomUUID()}`
      await copyFlushed(from, unfinished)
      await rename(unfinished, to)
    })
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false
    if (!hasCode(error, 'EEXIST')) throw error
  }
  await folders.flush(dirname(to))
  return true
}

async function copyFlushed(from: string, to: string): Promise<void> {
  await copyFile(from, to)
  const file = await open(to, 'r+')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Makes the folder when it is missed: a delete may take an empty one away between its making and the rename. */
async function publish(
  temporary: string,
  { path, folders }: Destination,
  onlyNew: boolean,
): Promise<void> {
  const folder = dirname(path)
  const attempt = async (): Promise<void> => {
    try {
      await (onlyNew ? moveToNew(temporary, path) : rename(temporary, path))
    } catch (error) {
      if (hasCode(error, 'ENOENT')) await folders.make(folder)
      throw error
    }
  }
  await retry(attempt, {
    attempts: PUBLISH_ATTEMPTS,
    isRetryable: (error) => hasCode(error, 'ENOENT'),
  })
  await folders.flush(folder)
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
