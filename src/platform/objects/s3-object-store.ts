import { randomUUID } from 'node:crypto'
import { ReadStream, createReadStream } from 'node:fs'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import {
  CopyObjectCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type PutObjectCommandInput,
  type PutObjectCommandOutput,
} from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'

import type { Clock } from '#base/clock.ts'
import type { S3Config } from '#config/config.ts'
import type { Logger } from '#platform/log/logger.ts'

import { ObjectFault } from './object-fault.ts'
import {
  attachment,
  checkObjectKey,
  checkedOptions,
  checkedType,
  urlExpiry,
  listLimit,
  tooLong,
} from './object-rules.ts'
import type {
  ByteRange,
  ListOptions,
  ObjectBody,
  ObjectHead,
  ObjectList,
  ObjectStore,
  PutOptions,
  StoredObject,
} from './object-store.ts'
import { type S3Request, S3Requests } from './s3-requests.ts'
import { ifThere, s3ObjectHead, s3ObjectList, s3StatusOf } from './s3-responses.ts'

/** Below this nothing touches the disk. */
const MEMORY_BYTES = 1024 * 1024

export interface S3Settings extends S3Config {
  /** Both or neither: without them the SDK looks where AWS tools look (environment, profile, instance role). */
  readonly accessKeyId: string | undefined
  readonly secretAccessKey: string | undefined
}

const MAX_KEY_BYTES = 1024

/** The most that S3 takes in one PUT. */
const MAX_PUT_BYTES = 5 * 1024 ** 3

/** How long a put may stall, while the store answers others: it also waits until the store has kept it. */
const PUT_IDLE_MS = 15_000

/** A body whose length is known: S3 needs the length before the first byte. */
interface Spooled extends AsyncDisposable {
  readonly sizeBytes: number
  readonly bytes: Uint8Array | undefined
  /** Where the body is when it was too long for memory. */
  readonly path: string | undefined
}

/** Objects in a bucket of any S3. */
export class S3ObjectStore implements ObjectStore {
  readonly bounds = { keyBytes: MAX_KEY_BYTES, urlPutBytes: MAX_PUT_BYTES }
  readonly #requests: S3Requests
  readonly #bucket: string
  readonly #clock: Clock

  constructor(settings: S3Settings, deps: { readonly clock: Clock; readonly logger: Logger }) {
    const { accessKeyId, secretAccessKey, endpoint, bucket } = settings
    this.#bucket = bucket
    this.#clock = deps.clock
    const client = {
      region: settings.region,
      forcePathStyle: settings.forcePathStyle,
      ...(endpoint === undefined ? {} : { endpoint }),
      ...(accessKeyId === undefined || secretAccessKey === undefined
        ? {}
        : { credentials: { accessKeyId, secretAccessKey } }),
      // Otherwise a presigned PUT carries the checksum of an empty body, and other S3s refuse the trailer.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
    } as const
    this.#requests = new S3Requests(bucket, client, deps.logger)
  }

  async put(key: string, body: ObjectBody, options: PutOptions = {}): Promise<ObjectHead> {
    checkObjectKey(key, MAX_KEY_BYTES)
    const { contentType, metadata } = checkedOptions(options)
    this.#requests.check()
    await using spooled = await this.#whole(body, options.maxBytes)
    // The header alone would be enough on S3 itself; stores that ignore it are asked first.
    if (options.ifNoneMatch === '*' && (await this.head(key))) throw exists()
    const etag = await this.#putWhole(spooled, {
      ...this.#object(key),
      ContentLength: spooled.sizeBytes,
      ContentType: contentType,
      Metadata: { ...metadata },
      IfNoneMatch: options.ifNoneMatch,
    })
    return {
      key,
      sizeBytes: spooled.sizeBytes,
      contentType,
      etag,
      lastModified: this.#clock.now(),
      metadata,
    }
  }

  async get(key: string, range?: ByteRange): Promise<StoredObject | undefined> {
    checkObjectKey(key, MAX_KEY_BYTES)
    const command = new GetObjectCommand({
      ...this.#object(key),
      Range: range && `bytes=${range.start}-${range.end ?? ''}`,
    })
    const answer = await ifThere(
      this.#requests.send((client, options) => client.send(command, options)),
    ).catch((cause: unknown) => {
      if (s3StatusOf(cause) !== 416) throw cause
      throw new ObjectFault('RangeNotSatisfiable', 'The range begins behind the object', { cause })
    })
    if (!answer) return undefined
    const body = answer.Body?.transformToWebStream()
    if (!body) throw new Error('S3 answered without a body')
    const watched = this.#requests.body(body as ReadableStream<Uint8Array>)
    return { head: s3ObjectHead(key, answer), body: watched }
  }

  /** Its signed URLs lead to S3 itself. */
  async blob(): Promise<undefined> {
    return undefined
  }

  async head(key: string): Promise<ObjectHead | undefined> {
    checkObjectKey(key, MAX_KEY_BYTES)
    const command = new HeadObjectCommand(this.#object(key))
    const answer = await ifThere(
      this.#requests.send((client, options) => client.send(command, options)),
    )
    return answer && s3ObjectHead(key, answer)
  }

  async delete(key: string): Promise<void> {
    checkObjectKey(key, MAX_KEY_BYTES)
    const command = new DeleteObjectCommand(this.#object(key))
    await this.#requests.send((client, options) => client.send(command, options))
  }

  async copy(from: string, to: string): Promise<boolean> {
    checkObjectKey(from, MAX_KEY_BYTES)
    if (await this.head(to)) return true
    const command = new CopyObjectCommand({
      ...this.#object(to),
      CopySource: `${this.#bucket}/${from.split('/').map(encodeURIComponent).join('/')}`,
    })
    const copied = await ifThere(
      this.#requests.send((client, options) => client.send(command, options), {
        limitMs: PUT_IDLE_MS,
      }),
    )
    return copied !== undefined
  }

  async list(options: ListOptions): Promise<ObjectList> {
    const { prefix, delimiter, startAfter, continuation } = options
    const command = new ListObjectsV2Command({
      Bucket: this.#bucket,
      Prefix: prefix,
      MaxKeys: listLimit(options),
      // Keys may hold what XML cannot.
      EncodingType: 'url',
      Delimiter: delimiter,
      ContinuationToken: continuation,
      StartAfter: continuation === undefined ? startAfter : undefined,
    })
    return s3ObjectList(
      await this.#requests.send((client, options) => client.send(command, options)),
    )
  }

  presignGet: ObjectStore['presignGet'] = async (key, { expiresInSeconds, downloadName }) => {
    checkObjectKey(key, MAX_KEY_BYTES)
    const expiresAt = urlExpiry(this.#clock.now(), expiresInSeconds)
    const command = new GetObjectCommand({
      ...this.#object(key),
      ResponseContentDisposition: downloadName === undefined ? undefined : attachment(downloadName),
    })
    const url = await getSignedUrl(this.#requests.client, command, {
      expiresIn: expiresInSeconds,
      signingDate: this.#clock.now(),
    })
    return { method: 'GET', url, headers: {}, expiresAt }
  }

  presignPut: ObjectStore['presignPut'] = async (key, options) => {
    checkObjectKey(key, MAX_KEY_BYTES)
    const expiresAt = urlExpiry(this.#clock.now(), options.expiresInSeconds)
    const { contentType } = checkedType(options)
    const command = new PutObjectCommand({
      ...this.#object(key),
      ContentType: contentType,
      ContentLength: options.sizeBytes,
    })
    const url = await getSignedUrl(this.#requests.client, command, {
      expiresIn: options.expiresInSeconds,
      signingDate: this.#clock.now(),
      // The default signs the host only: then any type and any size could be sent.
      signableHeaders: new Set([
        'content-length',
        'host',
        // The SDK has a type of its own where none is given.
        ...(contentType === undefined ? [] : ['content-type']),
      ]),
    })
    // Every client sends the length of what it has, and no page may set it.
    const headers = contentType === undefined ? {} : { 'Content-Type': contentType }
    return { method: 'PUT', url, headers, expiresAt }
  }

  async ping(): Promise<void> {
    await this.#requests.ping()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#requests[Symbol.dispose]()
  }

  /** Gives its ETag. */
  async #putWhole(spooled: Spooled, description: PutObjectCommandInput): Promise<string> {
    let body: Uint8Array | ReadStream | undefined
    const put: S3Request<PutObjectCommandOutput> = (client, options) => {
      body = bodyOf(spooled)
      return client.send(new PutObjectCommand({ ...description, Body: body }), options)
    }
    try {
      const { ETag } = await this.#requests.send(put, {
        limitMs: PUT_IDLE_MS,
        progress: () => (body instanceof ReadStream ? body.bytesRead : 0),
        // The attempt before may have made what the next would take for another writer's.
        ...(description.IfNoneMatch !== undefined && { attempts: 1 }),
      })
      return ETag ?? ''
    } catch (error) {
      throw s3StatusOf(error) === 412 ? exists(error) : error
    }
  }

  async #whole(body: ObjectBody, maxBytes: number | undefined): Promise<Spooled> {
    if (!(body instanceof Uint8Array)) return spool(body, maxBytes)
    if (maxBytes !== undefined && body.byteLength > maxBytes) throw tooLong(maxBytes)
    return {
      sizeBytes: body.byteLength,
      bytes: body,
      path: undefined,
      async [Symbol.asyncDispose]() {},
    }
  }

  readonly #object = (key: string) => ({ Bucket: this.#bucket, Key: key })
}

const exists = (cause?: unknown): ObjectFault =>
  new ObjectFault('PreconditionFailed', 'An object with this key exists already', { cause })

const bodyOf = ({ path, bytes }: Spooled) =>
  path === undefined ? (bytes ?? new Uint8Array()) : createReadStream(path)

/** Reads a stream to its end, a long one into a file of its own that disposing removes. */
async function spool(
  body: ReadableStream<Uint8Array>,
  maxBytes: number | undefined,
): Promise<Spooled> {
  const target = new SpoolTarget()
  try {
    for await (const chunk of body) {
      if (maxBytes !== undefined && target.sizeBytes + chunk.byteLength > maxBytes) {
        throw tooLong(maxBytes)
      }
      await target.add(chunk)
    }
    return await target.finished()
  } catch (error) {
    await target[Symbol.asyncDispose]()
    throw error
  }
}

class SpoolTarget implements AsyncDisposable {
  sizeBytes = 0
  readonly #path = join(tmpdir(), `croft-upload-${randomUUID()}`)
  #chunks: Uint8Array[] = []
  #file: FileHandle | undefined

  async add(chunk: Uint8Array): Promise<void> {
    this.sizeBytes += chunk.byteLength
    this.#chunks.push(chunk)
    if (this.sizeBytes > MEMORY_BYTES) await this.#flush()
  }

  async finished(): Promise<Spooled> {
    const spilled = this.#file !== undefined
    if (spilled) {
      await this.#flush()
      await this.#file?.close()
    }
    const path = spilled ? this.#path : undefined
    return {
      sizeBytes: this.sizeBytes,
      bytes: spilled ? undefined : Buffer.concat(this.#chunks),
      path,
      async [Symbol.asyncDispose]() {
        if (path !== undefined) await rm(path, { force: true })
      },
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#file) return
    await this.#file.close()
    await rm(this.#path, { force: true })
  }

  async #flush(): Promise<void> {
    this.#file ??= await open(this.#path, 'wx', 0o600)
    await this.#file.appendFile(Buffer.concat(this.#chunks))
    this.#chunks = []
  }
}
