import type { AttributeNames } from '#runtime/tables/expressions/substitutions.ts'
import type { PlainItem } from '#runtime/tables/items/plain-json.ts'
import type { Table } from '#runtime/tables/table.ts'

/** An item or a key in plain JSON whose attributes nobody has read yet. */
type UnreadItem = Readonly<Record<string, unknown>>

interface Projected {
  readonly projectionExpression?: string
  readonly expressionAttributeNames?: AttributeNames
}

interface Conditional {
  readonly conditionExpression?: string
  readonly expressionAttributeNames?: AttributeNames
  readonly expressionAttributeValues?: UnreadItem
  readonly returnValuesOnConditionCheckFailure?: 'NONE' | 'ALL_OLD'
}

export interface GetRequest extends Projected {
  readonly key: UnreadItem
}

export interface PutRequest extends Conditional {
  readonly item: UnreadItem
  readonly returnValues?: 'NONE' | 'ALL_OLD'
}

export interface DeleteRequest extends Conditional {
  readonly key: UnreadItem
  readonly returnValues?: 'NONE' | 'ALL_OLD'
}

export interface UpdateRequest extends Conditional {
  readonly key: UnreadItem
  readonly updateExpression?: string
  readonly returnValues?: 'NONE' | 'ALL_OLD' | 'UPDATED_OLD' | 'ALL_NEW' | 'UPDATED_NEW'
}

export interface ItemPageRequest extends Projected {
  readonly filterExpression?: string
  readonly expressionAttributeValues?: UnreadItem
  readonly indexName?: string
  readonly limit?: number
  readonly select?: 'ALL_ATTRIBUTES' | 'ALL_PROJECTED_ATTRIBUTES' | 'SPECIFIC_ATTRIBUTES' | 'COUNT'
  readonly consistentRead?: boolean
  readonly exclusiveStartKey?: UnreadItem
}

export interface QueryRequest extends ItemPageRequest {
  readonly keyConditionExpression: string
  readonly scanIndexForward?: boolean
}

export interface ScanRequest extends ItemPageRequest {
  readonly segment?: number
  readonly totalSegments?: number
}

export interface BatchGetRequest extends Projected {
  readonly table: Table
  readonly keys: readonly UnreadItem[]
}

/** Puts an item, or deletes that of a key. */
export type BatchWriteRequest = { readonly table: Table } & (
  | { readonly item: UnreadItem }
  | { readonly key: UnreadItem }
)

/** One action of a transaction. */
export type TransactRequest = { readonly table: Table } & (
  | { readonly kind: 'put'; readonly fields: Conditional & { readonly item: UnreadItem } }
  | {
      readonly kind: 'update'
      readonly fields: Conditional & { readonly key: UnreadItem; readonly updateExpression: string }
    }
  | {
      readonly kind: 'delete' | 'conditionCheck'
      readonly fields: Conditional & { readonly key: UnreadItem }
    }
)

/** What a query or scan found on one page. */
export interface FoundPage {
  /** Empty where only the count was asked for. */
  readonly items: PlainItem[]
  /** Items after the filter. */
  readonly count: number
  /** Items before it. */
  readonly scannedCount: number
  readonly lastEvaluatedKey?: PlainItem
}
