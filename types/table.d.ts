/** Strings, finite numbers, booleans, null, lists and plain objects, and replacements for the rest. */
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
