/**
 * What the functions of a site are given, for editors and type checkers.
 *
 * ```ts
 * import type { Handler } from 'croft'
 *
 * const read: Handler<{ id: string }> = async ({ payload }, { table }) => {
 *   const { item } = await table('notes').get({ key: { id: payload.id } })
 *   return item
 * }
 * export default read
 * ```
 */

/** `export default` of a function's module. What it returns is sent as JSON; `undefined` is sent as `null`. */
export type Handler<Payload = unknown, Result = unknown> = (
  input: Input<Payload>,
  ctx: Context,
) => Result | Promise<Result>

/** The other form of a module: `export default { fetch }`. */
export interface FetchHandler {
  fetch(request: Request, ctx: Context): Response | Promise<Response>
}

export interface Input<Payload = unknown> {
  /** What the caller sent as `payload`; not checked by anybody. */
  readonly payload: Payload
  /** Null for a caller without a token, and for a job of the site itself. */
  readonly auth: Auth | null
  readonly operation: string
  /** The same in the logs and in the answer's `X-Request-Id`. */
  readonly requestId: string
  readonly site: { readonly siteId: string; readonly siteDomain: string }
}

export interface Auth {
  readonly sub: string
  readonly username: string
  readonly groups: readonly string[]
}

/**
 * What a function may use beside its input. It belongs to one call: once that is over, everything but `env` and `log`
 * rejects with `CallOver`. It may be destructured. Every method rejects with a `HostError`.
 */
export interface Context {
  /** The environment variables that the function names in `config.environment`; without a prototype: `'NAME' in env`. */
  readonly env: Readonly<Record<string, string>>
  /** A line of the site's log, counted on this call. */
  readonly log: Log
  /** A table that the function was granted in `config.resources`. */
  readonly table: <Row extends object = Item>(name: string) => Table<Row>
  /** A bucket that the function was granted in `config.resources`. */
  readonly bucket: (name: string) => Bucket
  /**
   * Sends from `no-reply@` the site's domain, to each recipient by itself. Acknowledged means kept: it is sent, or seen to
   * fail. A site reaches 500 recipients an hour, 100 of them for strangers of one network (`TooManyRequests`).
   */
  readonly sendEmail: (message: Email) => Promise<SentEmail>
  /**
   * Calls another operation of the site as this call's caller, and gives its `data`. Its own rule admits the caller, as
   * at `/data/{name}`; without a token that is what `/data/public/{name}` serves. At most eight deep.
   */
  readonly operation: <Result = unknown>(name: string, payload?: unknown) => Promise<Result>
}

export interface Log {
  (...values: unknown[]): void
  debug(...values: unknown[]): void
  info(...values: unknown[]): void
  warn(...values: unknown[]): void
  error(...values: unknown[]): void
}

/**
 * A refusal: `code` says which, such as `ConditionalCheckFailed`, `ValidationError`, `Forbidden`, `ObjectNotFound`,
 * `TooManyRequests`. Nobody but the site's log learns of one that is not caught: the caller reads `OperationFailed`. To tell
 * the caller something, throw `{ statusCode, code, message }` of your own with a status from 400 to 499.
 */
export interface HostError extends Error {
  readonly code: string
  readonly statusCode: number
  readonly details?: readonly { readonly field: string; readonly message: string }[]
  readonly retryable?: boolean
  readonly retryAfterSeconds?: number
  /** The item that failed a condition, with `returnValuesOnConditionCheckFailure: 'ALL_OLD'`. */
  readonly item?: Item
  /** Which limit was met, and how. */
  readonly limit?: { readonly name: string; readonly value: number; readonly used?: number }
}

/** Strings, finite numbers, booleans, null, lists and plain objects, and what stands for the rest. */
export type AttributeValue =
  | string
  | number
  | boolean
  | null
  | SetMarker
  | BinaryMarker
  | NumberMarker
  | readonly AttributeValue[]
  | { readonly [name: string]: AttributeValue }

/** A set: of strings, of numbers, or of binaries. A `Set` is written as one. */
export interface SetMarker {
  readonly $set: readonly AttributeValue[]
}
/** Bytes in base64. A `Uint8Array` or an `ArrayBuffer` is written as one. */
export interface BinaryMarker {
  readonly $binary: string
}
/** A number with up to 38 digits. A `bigint` is written as one; numbers beyond 2^53 are read as one. */
export interface NumberMarker {
  readonly $number: string
}

// oxlint-disable-next-line typescript/no-explicit-any -- the attributes of a schemaless item
export type Item = Record<string, any>
export type Key = Record<
  string,
  string | number | bigint | Uint8Array | BinaryMarker | NumberMarker
>

interface Projection {
  readonly projectionExpression?: string
  readonly expressionAttributeNames?: Readonly<Record<string, string>>
}

interface Condition {
  /** On attributes that are not of the table's key it takes the access `readWrite`. */
  readonly conditionExpression?: string
  readonly expressionAttributeNames?: Readonly<Record<string, string>>
  readonly expressionAttributeValues?: Readonly<Record<string, unknown>>
  /** `ALL_OLD` puts the item into the error's `item`; it takes the access `readWrite`. */
  readonly returnValuesOnConditionCheckFailure?: 'NONE' | 'ALL_OLD'
}

export interface GetInput extends Projection {
  readonly key: Key
  readonly consistentRead?: boolean
}

interface PageInput extends Projection {
  readonly filterExpression?: string
  readonly expressionAttributeValues?: Readonly<Record<string, unknown>>
  readonly indexName?: string
  /** Items that are looked at, before the filter. */
  readonly limit?: number
  readonly select?: 'ALL_ATTRIBUTES' | 'ALL_PROJECTED_ATTRIBUTES' | 'SPECIFIC_ATTRIBUTES' | 'COUNT'
  readonly consistentRead?: boolean
  readonly exclusiveStartKey?: Key
  readonly nextToken?: string | null
}

export interface QueryInput extends PageInput {
  readonly keyConditionExpression: string
  readonly scanIndexForward?: boolean
}

export interface ScanInput extends PageInput {
  readonly segment?: number
  readonly totalSegments?: number
}

export interface Page<Row> {
  readonly items: Row[]
  readonly count: number
  readonly scannedCount: number
  readonly lastEvaluatedKey?: Key
  /** Null at the end. */
  readonly nextToken: string | null
}

export interface PutInput<Row> extends Condition {
  readonly item: Row
  /** Anything but `NONE` takes the access `readWrite`. */
  readonly returnValues?: 'NONE' | 'ALL_OLD'
}

export interface UpdateInput extends Condition {
  readonly key: Key
  /** `SET`, `REMOVE`, `ADD` and `DELETE`. An item that is not there is made, unless it is only to lose something. */
  readonly updateExpression?: string
  /** Anything but `NONE` takes the access `readWrite`. */
  readonly returnValues?: 'NONE' | 'ALL_OLD' | 'UPDATED_OLD' | 'ALL_NEW' | 'UPDATED_NEW'
}

export interface DeleteInput extends Condition {
  readonly key: Key
  /** Anything but `NONE` takes the access `readWrite`. */
  readonly returnValues?: 'NONE' | 'ALL_OLD'
}

export interface WriteAnswer<Row> {
  readonly ok: true
  /** What `returnValues` asked for. */
  readonly attributes?: Partial<Row>
}

export interface BatchGetInput extends Projection {
  /** At most 100. */
  readonly keys: readonly Key[]
  readonly consistentRead?: boolean
}

/** At most 25 together, none of them twice. */
export interface BatchWriteInput<Row> {
  readonly puts?: readonly Row[]
  readonly deletes?: readonly Key[]
}

export type TransactAction<Row> =
  | { readonly put: { readonly item: Row } & Condition }
  | { readonly update: { readonly key: Key; readonly updateExpression: string } & Condition }
  | { readonly delete: { readonly key: Key } & Condition }
  | {
      readonly conditionCheck: {
        readonly key: Key
        readonly conditionExpression: string
      } & Condition
    }

/** All of them or none: `TransactionCanceled` says why. */
export interface TransactWriteInput<Row> {
  /** At most 100. */
  readonly actions: readonly TransactAction<Row>[]
  readonly clientRequestToken?: string
}

/**
 * The actions of the table's routes: inputs and answers are the same, item by item in plain JSON, and semantics are
 * DynamoDB's. `get`, `query`, `scan` and `batchGet` take the access `read`, the others `write`.
 */
export interface Table<Row extends object = Item> {
  get(input: GetInput): Promise<{ readonly item: Row | null }>
  query(input: QueryInput): Promise<Page<Row>>
  scan(input?: ScanInput): Promise<Page<Row>>
  put(input: PutInput<Row>): Promise<WriteAnswer<Row>>
  update(input: UpdateInput): Promise<WriteAnswer<Row>>
  delete(input: DeleteInput): Promise<WriteAnswer<Row>>
  batchGet(
    input: BatchGetInput,
  ): Promise<{ readonly items: Row[]; readonly unprocessedKeys: Key[] }>
  batchWrite(
    input: BatchWriteInput<Row>,
  ): Promise<{ readonly ok: true; readonly unprocessedItems: [] }>
  transactWrite(input: TransactWriteInput<Row>): Promise<{ readonly ok: true }>
  /** Every item of a query, page after page: `for await (const item of notes.queryItems(…))`. */
  queryItems(input: QueryInput): AsyncIterable<Row>
  /** Every item of a scan, page after page. */
  scanItems(input?: ScanInput): AsyncIterable<Row>
}

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

export interface Email {
  /** At most 50. */
  readonly to: string | readonly string[]
  /** One line of at most 998 characters. */
  readonly subject: string
  /** `text`, `html` or both, each at most 1 MiB. */
  readonly text?: string
  readonly html?: string
  readonly replyTo?: string
}

export interface SentEmail {
  /** Of the first recipient's message. */
  readonly messageId: string
  /** One for each recipient, in their order, those that came twice left out. */
  readonly messageIds: readonly string[]
}
