import type { Conditions, Expectations } from './legacy-conditions.ts'
import type { AttributeUpdates } from './legacy-updates.ts'

/** What the layer itself reads of a request about items, once its shape was read. */
export interface ItemRequest {
  readonly TableName: string
  readonly IndexName?: string
  readonly Key?: Readonly<Record<string, unknown>>
  readonly Item?: Readonly<Record<string, unknown>>
  readonly ExclusiveStartKey?: Readonly<Record<string, unknown>>
  readonly AttributesToGet?: readonly string[]
  readonly AttributeUpdates?: AttributeUpdates
  readonly Expected?: Expectations
  readonly QueryFilter?: Conditions
  readonly ScanFilter?: Conditions
  readonly KeyConditions?: Conditions
  readonly ConditionalOperator?: string
  readonly ConditionExpression?: string
  readonly UpdateExpression?: string
  readonly KeyConditionExpression?: string
  readonly FilterExpression?: string
  readonly ProjectionExpression?: string
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>
  readonly ExpressionAttributeValues?: Readonly<Record<string, unknown>>
  readonly ReturnValues?: string
  readonly ReturnConsumedCapacity?: string
  readonly ReturnItemCollectionMetrics?: string
  readonly ConsistentRead?: boolean
  readonly Select?: string
  readonly Limit?: number
  readonly Segment?: number
  readonly TotalSegments?: number
}
