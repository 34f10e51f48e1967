export interface ListObjectsInput {
  readonly prefix?: string
  readonly delimiter?: string
  /** At most 1000. */
  readonly maxKeys?: number
  readonly startAfter?: string
  readonly nextToken?: string | null
}

export interface ObjectList {
  readonly items: readonly {
    readonly key: string
    readonly size: number
    readonly lastModified: string
    readonly etag: string
  }[]
  readonly commonPrefixes: readonly string[]
  readonly isTruncated: boolean
  readonly nextToken: string | null
}

export interface GetObjectInput {
  readonly key: string
  readonly encoding?: 'utf8' | 'base64'
  /** Inclusive on both ends, or as HTTP writes it. */
  readonly range?: { readonly start: number; readonly end?: number } | string
}

export interface StoredObject {
  readonly key: string
  readonly body: string
  readonly encoding: 'utf8' | 'base64'
  readonly contentType: string
  readonly size: number
  readonly etag: string
  readonly lastModified: string
  readonly metadata: Readonly<Record<string, string>>
  readonly contentRange?: string
  text(): Promise<string>
  bytes(): Promise<Uint8Array>
  json<Value = unknown>(): Promise<Value>
}

export interface PutObjectInput {
  readonly key: string
  /** At most 6 MiB: `presignPutObject` for more. */
  readonly body: string | ArrayBuffer | ArrayBufferView | Blob
  /** What a body of text is written in; `utf8` when left out. */
  readonly encoding?: 'utf8' | 'base64'
  /** A Blob's own type when left out. */
  readonly contentType?: string
  readonly metadata?: Readonly<Record<string, string>>
  /** Only where there is no object yet: `PreconditionFailed` otherwise. */
  readonly ifNoneMatch?: '*'
}

/** A request that works without a token, once it is made as it says. */
export interface SignedRequest {
  readonly method: 'GET' | 'PUT'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly expiresAt: string
}

/** `listObjects`, `getObject` and `presignGetObject` take the access `read`, the others `write`. */
export interface Bucket {
  listObjects(input?: ListObjectsInput): Promise<ObjectList>
  /** `ObjectNotFound` when there is none; `PayloadTooLarge` over 6 MiB. */
  getObject(input: GetObjectInput): Promise<StoredObject>
  putObject(input: PutObjectInput): Promise<{
    readonly ok: true
    readonly key: string
    readonly etag: string
    readonly size: number
  }>
  /** Also fine when there is none. */
  deleteObject(input: {
    readonly key: string
  }): Promise<{ readonly ok: true; readonly key: string }>
  presignGetObject(input: {
    readonly key: string
    /** 1 to 604 800; 900 when left out. */
    readonly expiresInSeconds?: number
    readonly downloadName?: string
  }): Promise<SignedRequest>
  presignPutObject(input: {
    readonly key: string
    /** Left out, the URL takes any. */
    readonly contentType?: string
    /** The exact length. Left out, the URL takes what the bucket takes, at most 512 MiB, and room is found when it comes. */
    readonly sizeBytes?: number
    readonly expiresInSeconds?: number
  }): Promise<SignedRequest>
}
