/**
 * Where bytes live: S3, or the filesystem with the same promises. Keys are built by `objectKey`, which takes the site first.
 * A put is atomic and durable when it resolves: readers see the old object or the new one, whole.
 */
export interface ObjectStore extends AsyncDisposable {
  readonly bounds: ObjectBounds
  put(key: string, body: ObjectBody, options?: PutOptions): Promise<ObjectHead>
  /** Undefined when there is no such object. `range` is inclusive on both ends, as in HTTP. */
  get(key: string, range?: ByteRange): Promise<StoredObject | undefined>
  /**
   * The same as a blob that is to be sent at once, where only of that the server tells the length. Undefined elsewhere, and
   * for an object that has another `etag`: then `get` it.
   */
  blob(key: string, etag: string, range?: Required<ByteRange>): Promise<Blob | undefined>
  head(key: string): Promise<ObjectHead | undefined>
  /** Deleting what is not there is fine. */
  delete(key: string): Promise<void>
  /** The same object under another key, unless there is one already: atomic, but not durable at once. False when there is none at `from`. */
  copy(from: string, to: string): Promise<boolean>
  /** In key order (UTF-8 bytes). */
  list(options: ListOptions): Promise<ObjectList>
  /** Copies nothing: the URL leads straight to the bytes. */
  presignGet(
    key: string,
    options: { readonly expiresInSeconds: number; readonly downloadName?: string },
  ): Promise<PresignedRequest>
  /** The exact length is part of the signature, and the content type where there is one; else the URL takes any. */
  presignPut(
    key: string,
    options: {
      readonly expiresInSeconds: number
      readonly contentType?: string
      readonly sizeBytes: number
    },
  ): Promise<PresignedRequest>
  ping(): Promise<void>
}

/** What this store takes at most. */
interface ObjectBounds {
  /** The longest key, with what `objectKey` puts before it. */
  readonly keyBytes: number
  /** The longest body that one signed URL takes. */
  readonly urlPutBytes: number
}

export type ObjectBody = Uint8Array | ReadableStream<Uint8Array>

export interface PutOptions {
  readonly contentType?: string
  /** ASCII; at most 2 KiB together, as in S3. */
  readonly metadata?: Readonly<Record<string, string>>
  /** `*`: fail with `PreconditionFailed` when the key exists. */
  readonly ifNoneMatch?: '*'
  /** Refuse, and store nothing, when the body turns out longer. */
  readonly maxBytes?: number
}

export interface ObjectHead {
  readonly key: string
  readonly sizeBytes: number
  readonly contentType: string
  /** Quoted, as in HTTP. */
  readonly etag: string
  readonly lastModified: Date
  readonly metadata: Readonly<Record<string, string>>
}

export interface StoredObject {
  readonly head: ObjectHead
  readonly body: ReadableStream<Uint8Array>
}

export interface ByteRange {
  readonly start: number
  readonly end?: number
}

export interface ListOptions {
  readonly prefix: string
  readonly delimiter?: string
  readonly startAfter?: string
  readonly continuation?: string
  readonly maxKeys: number
}

export interface ObjectList {
  readonly objects: readonly Pick<ObjectHead, 'key' | 'sizeBytes' | 'etag' | 'lastModified'>[]
  readonly commonPrefixes: readonly string[]
  readonly continuation: string | undefined
}

export interface PresignedRequest {
  readonly method: 'GET' | 'PUT'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly expiresAt: Date
}

/** What sites store. An archive of a site has each kind. */
export const OBJECT_KINDS = ['artifacts', 'encoded', 'mail', 'git', 'buckets'] as const
export type ObjectKind = (typeof OBJECT_KINDS)[number]

/** Everything of a site is under its id, so one prefix is one tenant. */
export const sitePrefix = (siteId: string): string => `sites/${siteId}/`

/** The only way to build the key of what a site stores. */
export const objectKey = (siteId: string, kind: ObjectKind, ...path: readonly string[]): string =>
  sitePrefix(siteId) + [kind, ...path].join('/')
