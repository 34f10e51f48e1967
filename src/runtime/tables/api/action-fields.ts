import { type JsonObject } from '#base/json-object.ts'
import type { Table } from '#runtime/tables/table.ts'

import {
  booleanRule,
  keyRule,
  limitRule,
  listRule,
  namesRule,
  objectRule,
  enumRule,
  segmentRule,
  nonEmptyListRule,
  textRule,
  totalSegmentsRule,
  valuesRule,
} from './field-rules.ts'
import type { FieldRules, FieldsOf } from './request-fields.ts'

const CONDITION = {
  conditionExpression: textRule,
  expressionAttributeNames: namesRule,
  expressionAttributeValues: valuesRule,
  returnValuesOnConditionCheckFailure: enumRule('NONE', 'ALL_OLD'),
}
const PROJECTION = { projectionExpression: textRule, expressionAttributeNames: namesRule }
const OLD_ONLY = enumRule('NONE', 'ALL_OLD')
const PAGE = {
  ...PROJECTION,
  expressionAttributeValues: valuesRule,
  filterExpression: textRule,
  indexName: textRule,
  limit: limitRule,
  select: enumRule('ALL_ATTRIBUTES', 'ALL_PROJECTED_ATTRIBUTES', 'SPECIFIC_ATTRIBUTES', 'COUNT'),
  consistentRead: booleanRule,
  exclusiveStartKey: keyRule,
  nextToken: textRule,
}

/** What each action reads. */
export const ACTION_FIELDS = {
  get: { required: { key: keyRule }, optional: { ...PROJECTION, consistentRead: booleanRule } },
  query: {
    required: { keyConditionExpression: textRule },
    optional: { ...PAGE, scanIndexForward: booleanRule },
  },
  scan: {
    required: {},
    optional: { ...PAGE, segment: segmentRule, totalSegments: totalSegmentsRule },
  },
  put: { required: { item: objectRule }, optional: { ...CONDITION, returnValues: OLD_ONLY } },
  update: {
    required: { key: keyRule },
    optional: {
      ...CONDITION,
      updateExpression: textRule,
      returnValues: enumRule('NONE', 'ALL_OLD', 'UPDATED_OLD', 'ALL_NEW', 'UPDATED_NEW'),
    },
  },
  delete: { required: { key: keyRule }, optional: { ...CONDITION, returnValues: OLD_ONLY } },
  'batch-get': {
    required: { keys: nonEmptyListRule(100) },
    optional: { ...PROJECTION, consistentRead: booleanRule },
  },
  'batch-write': {
    required: {},
    optional: { puts: listRule(25), deletes: listRule(25), requests: listRule(25) },
  },
  'transact-write': {
    required: { actions: nonEmptyListRule(100) },
    optional: { clientRequestToken: textRule },
  },
} as const satisfies Record<string, FieldRules>

/** What one of the `actions` of a transaction reads. */
export const TRANSACT_FIELDS = {
  put: { required: { item: objectRule }, optional: CONDITION },
  update: { required: { key: keyRule, updateExpression: textRule }, optional: CONDITION },
  delete: { required: { key: keyRule }, optional: CONDITION },
  conditionCheck: {
    required: { key: keyRule, conditionExpression: textRule },
    optional: CONDITION,
  },
} as const satisfies Record<string, FieldRules>

/** What one of the `requests` of a batch reads. */
export const WRITE_FIELDS = {
  putRequest: { required: { item: objectRule }, optional: {} },
  deleteRequest: { required: { key: keyRule }, optional: {} },
} as const satisfies Record<string, FieldRules>

type ActionFields<Action extends keyof typeof ACTION_FIELDS> = FieldsOf<
  (typeof ACTION_FIELDS)[Action]
>
export type GetRequest = ActionFields<'get'>
export type PutRequest = ActionFields<'put'>
export type DeleteRequest = ActionFields<'delete'>
export type UpdateRequest = ActionFields<'update'>
export type QueryRequest = ActionFields<'query'>
export type ScanRequest = ActionFields<'scan'>
export type ItemPageRequest = FieldsOf<{ readonly required: {}; readonly optional: typeof PAGE }>
export type BatchGetRequest = Omit<ActionFields<'batch-get'>, 'keys'> & {
  readonly table: Table
  readonly keys: readonly JsonObject[]
}

/** Puts an item, or deletes that of a key. */
export type BatchWriteRequest = { readonly table: Table } & (
  | FieldsOf<typeof WRITE_FIELDS.putRequest>
  | FieldsOf<typeof WRITE_FIELDS.deleteRequest>
)

/** One action of a transaction. */
export type TransactRequest = {
  [Kind in keyof typeof TRANSACT_FIELDS]: {
    readonly table: Table
    readonly kind: Kind
    readonly fields: FieldsOf<(typeof TRANSACT_FIELDS)[Kind]>
  }
}[keyof typeof TRANSACT_FIELDS]

/** Fields of DynamoDB that have no use here, and what to do instead. */
export const REFUSED_FIELDS: ReadonlyMap<string, string> = new Map([
  ['tableName', 'is not read: the call already says which table it means'],
  ['returnConsumedCapacity', 'is not read: no capacity is counted'],
  ['returnItemCollectionMetrics', 'is not read: there are no item collection metrics'],
  ['attributesToGet', 'is not read: use "projectionExpression"'],
  ['attributeUpdates', 'is not read: use "updateExpression"'],
  ['expected', 'is not read: use "conditionExpression"'],
  ['conditionalOperator', 'is not read: use AND and OR in an expression'],
  ['keyConditions', 'is not read: use "keyConditionExpression"'],
  ['queryFilter', 'is not read: use "filterExpression"'],
  ['scanFilter', 'is not read: use "filterExpression"'],
  ['requestItems', 'is not read: use "keys", or "puts" and "deletes"'],
  ['transactItems', 'is not read: use "actions"'],
])
