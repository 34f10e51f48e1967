import { randomUUID } from 'node:crypto'
import { openAsBlob } from 'node:fs'
import {
  type FileHandle,
  access,
  constants,
  mkdir,
  open,
  readdir,
  rm,
  stat,
  link,
} from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { AppError } from '#base/app-error.ts'
import type { Clock } from '#base/clock.ts'
import { ifMissing } from '#base/error-code.ts'
import { makeFolderDurably } from '#config/atomic-file.ts'
import { DurableFolders } from '#platform/disk/durable-folders.ts'

import { type FileHeader, readHeader } from './file-header.ts'
import { pathOfKey } from './file-key.ts'
import { type Listed, type ListingQuery, listing } from './file-listing.ts'
import { linkObjectFile, writeObjectFile } from './file-writer.ts'
import { ObjectFault } from './object-fault.ts'
import {
  MAX_SERVICE_PUT_BYTES,
  checkObjectKey,
  checkedOptions,
  checkedType,
  urlExpiry,
  listLimit,
} from './object-rules.ts'
import type {
  ByteRange,
  ListOptions,
  ObjectBody,
  ObjectHead,
  ObjectList,
  ObjectStore,
  PresignedRequest,
  PutOptions,
  StoredObject,
} from './object-store.ts'
import type { ObjectUrls, UrlGrant } from './object-urls.ts'

/** What a crash left behind is removed at the next opening, once no process can be using it. */
const ABANDONED_AFTER_MS = 60 * 60_000
const HEADS_AT_ONCE = 32

/** S3's 1024, and what `objectKey` puts before a tenant's own key. The longest path stays under 4096 bytes. */
const MAX_KEY_BYTES = 1152

/** The server opens a blob's file when it begins to send, right after it was handed over. */
const KEPT_MS = 60_000

/** Whether the server of this runtime sends the length of a file's blob, but not that of a stream (Bun 1.4). */
const tellsLengthOfFiles = process.versions['bun'] !== undefined

const CHUNK_BYTES = 128 * 1024

export interface FileObjectStoreDeps {
  /** Absolute. Created when missing; one service at a time. */
  readonly dir: string
  /** What signs its URLs. */
  readonly urls: Pick<ObjectUrls, 'sign'>
  readonly clock: Clock
}

/** Objects as files: each one file that carries its own description, in a tree whose names sort as the keys do. */
export class FileObjectStore implements ObjectStore {
  readonly bounds = { keyBytes: MAX_KEY_BYTES, urlPutBytes: MAX_SERVICE_PUT_BYTES }
  readonly #tree: string
  readonly #temporary: string
  readonly #urls: FileObjectStoreDeps['urls']
  readonly #clock: Clock
  readonly #folders: DurableFolders

  constructor(deps: FileObjectStoreDeps) {
    this.#tree = join(deps.dir, 'objects')
    this.#temporary = join(deps.dir, 'incoming')
    this.#folders = new DurableFolders(this.#tree)
    this.#urls = deps.urls
    this.#clock = deps.clock
  }

  /** Makes the folders and clears what a crash left. To be awaited once before use. */
  async open(): Promise<this> {
    await makeFolderDurably(this.#tree, 0o700)
    await mkdir(this.#temporary, { recursive: true, mode: 0o700 })
    const abandonedBefore = this.#clock.now().getTime() - ABANDONED_AFTER_MS
    for (const name of await readdir(this.#temporary)) {
      const path = join(this.#temporary, name)
      const found = await stat(path).catch(() => undefined)
      if (found && found.mtimeMs < abandonedBefore) await rm(path, { force: true })
    }
    return this
  }

  async put(key: string, body: ObjectBody, options: PutOptions = {}): Promise<ObjectHead> {
    checkObjectKey(key, MAX_KEY_BYTES)
    const description = { key, ...checkedOptions(options) }
    const destination = {
      temporaryFolder: this.#temporary,
      path: this.#pathOf(key),
      folders: this.#folders,
    }
    return writeObjectFile(destination, description, body, {
      maxBytes: options.maxBytes,
      onlyNew: options.ifNoneMatch === '*',
      now: this.#clock.now(),
    })
  }

  async get(key: string, range?: ByteRange): Promise<StoredObject | undefined> {
    const found = await this.#open(key)
    if (!found) return undefined
    const { file, header } = found
    const { sizeBytes } = header.head
    const start = range?.start ?? 0
    const end = Math.min(range?.end ?? sizeBytes - 1, sizeBytes - 1)
    if (range && (start < 0 || start >= sizeBytes || end < start)) {
      await file.close()
      throw new ObjectFault('RangeNotSatisfiable', `The object has ${sizeBytes} bytes`)
    }
    const body = readFileRange(file, header.bodyOffset + start, end - start + 1)
    return { head: header.head, body }
  }

  async blob(key: string, etag: string, range?: Required<ByteRange>): Promise<Blob | undefined> {
    checkObjectKey(key, MAX_KEY_BYTES)
    const name = join(this.#temporary, randomUUID())
    const whole = await blobOfFile(this.#pathOf(key), name)
    if (whole === undefined) return undefined
    const linked = await openObject(name)
    await linked?.file.close()
    if (linked?.header.head.etag !== etag) return undefined
    const { bodyOffset, head } = linked.header
    const { start, end } = range ?? { start: 0, end: head.sizeBytes - 1 }
    return whole.slice(bodyOffset + start, bodyOffset + end + 1)
  }

  async head(key: string): Promise<ObjectHead | undefined> {
    const found = await this.#open(key)
    await found?.file.close()
    return found?.header.head
  }

  async delete(key: string): Promise<void> {
    checkObjectKey(key, MAX_KEY_BYTES)
    const path = this.#pathOf(key)
    await rm(path, { force: true })
    await this.#folders.flush(dirname(path))
    await this.#removeEmptyFolders(dirname(path))
  }

  /** A second name of the same file, which describes itself by the first. */
  async copy(from: string, to: string): Promise<boolean> {
    checkObjectKey(from, MAX_KEY_BYTES)
    checkObjectKey(to, MAX_KEY_BYTES)
    return linkObjectFile(this.#pathOf(from), this.#pathOf(to), this.#folders)
  }

  async list(options: ListOptions): Promise<ObjectList> {
    const limit = listLimit(options)
    const query = queryOf(options)
    const found: Listed[] = []
    let more = false
    for await (const listed of listing(this.#tree, query)) {
      more = found.length === limit
      if (more) break
      found.push(listed)
    }
    const heads = await this.#heads(found.filter((listed) => listed.kind === 'object'))
    const last = found.at(-1)
    return {
      objects: heads,
      commonPrefixes: found.filter(({ kind }) => kind === 'commonPrefix').map(({ key }) => key),
      continuation: more && last ? encodeContinuation(last) : undefined,
    }
  }

  presignGet: ObjectStore['presignGet'] = async (key, { expiresInSeconds, downloadName }) => {
    const expiresAt = urlExpiry(this.#clock.now(), expiresInSeconds)
    return this.#presigned({
      method: 'GET',
      key,
      expiresAt,
      ...(downloadName === undefined ? {} : { downloadName }),
    })
  }

  presignPut: ObjectStore['presignPut'] = async (key, options) => {
    const expiresAt = urlExpiry(this.#clock.now(), options.expiresInSeconds)
    const { sizeBytes } = options
    const contentType = checkedType(options)
    return this.#presigned({ method: 'PUT', key, expiresAt, sizeBytes, ...contentType })
  }

  async ping(): Promise<void> {
    await access(this.#tree, constants.R_OK | constants.W_OK)
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  async #presigned(grant: UrlGrant): Promise<PresignedRequest> {
    checkObjectKey(grant.key, MAX_KEY_BYTES)
    return this.#urls.sign(grant)
  }

  #pathOf(key: string): string {
    const { folders, file } = pathOfKey(key)
    return join(this.#tree, ...folders, file)
  }

  async #open(key: string): Promise<{ file: FileHandle; header: FileHeader } | undefined> {
    checkObjectKey(key, MAX_KEY_BYTES)
    return openObject(this.#pathOf(key))
  }

  /** An object that is deleted while it is listed is left out. */
  async #heads(found: readonly { readonly path: string }[]): Promise<ObjectHead[]> {
    const heads: ObjectHead[] = []
    for (let first = 0; first < found.length; first += HEADS_AT_ONCE) {
      const some = found.slice(first, first + HEADS_AT_ONCE).map(async ({ path }) => {
        const opened = await openObject(path)
        await opened?.file.close()
        return opened?.header.head
      })
      heads.push(...(await Promise.all(some)).filter((head) => head !== undefined))
    }
    return heads
  }

  async #removeEmptyFolders(innermost: string): Promise<void> {
    for (let folder = innermost; folder !== this.#tree; folder = dirname(folder)) {
      try {
        await this.#folders.remove(folder)
      } catch {
        // Not empty, or gone already.
        return
      }
    }
  }
}

async function openObject(
  path: string,
): Promise<{ file: FileHandle; header: FileHeader } | undefined> {
  const file = await open(path, 'r').catch(ifMissing(undefined))
  if (!file) return undefined
  try {
    return { file, header: await readHeader(file) }
  } catch (error) {
    await file.close()
    throw error
  }
}

function queryOf(options: ListOptions): ListingQuery {
  const { prefix, delimiter, startAfter = '', continuation } = options
  if (continuation === undefined) return { prefix, delimiter, after: startAfter, skip: undefined }
  const { kind, key } = decodeContinuation(continuation)
  return { prefix, delimiter, after: key, skip: kind === 'commonPrefix' ? key : undefined }
}

const encodeContinuation = ({ kind, key }: Listed): string =>
  Buffer.from(`${kind === 'object' ? 'o' : 'p'}${key}`).toString('base64url')

function decodeContinuation(token: string): Pick<Listed, 'kind' | 'key'> {
  const text = Buffer.from(token, 'base64url').toString()
  const kind = text.startsWith('o') ? 'object' : text.startsWith('p') ? 'commonPrefix' : undefined
  if (kind === undefined) {
    throw new AppError(
      'InvalidNextToken',
      'The list cannot be continued with this token: start again without it',
    )
  }
  return { kind, key: text.slice(1) }
}

/**
 * The file's bytes as they are now, as a blob: `name`, a path of its own for the file, outlives a replacement of `path` and
 * is removed after a minute. Undefined where a stream does as well, or the file system has no hard links.
 */
async function blobOfFile(path: string, name: string): Promise<Blob | undefined> {
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

/** Reads as fast as it is read from, and closes the file at the end, on a fault and on cancel. */
function readFileRange(
  file: FileHandle,
  offset: number,
  length: number,
): ReadableStream<Uint8Array> {
  let position = offset
  const end = offset + length
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const chunk = new Uint8Array(Math.min(CHUNK_BYTES, end - position))
          const { bytesRead } =
            chunk.length === 0
              ? { bytesRead: 0 }
              : await file.read(chunk, 0, chunk.length, position)
          if (bytesRead === 0 && position < end) throw new Error('An object file is too short')
          position += bytesRead
          const isFull = bytesRead === chunk.length
          if (bytesRead > 0) controller.enqueue(isFull ? chunk : chunk.slice(0, bytesRead))
          if (position < end) return
          await file.close()
          controller.close()
        } catch (error) {
          await file.close().catch(() => {})
          controller.error(error)
        }
      },
      cancel: () => file.close(),
    },
    { highWaterMark: 0 },
  )
}
