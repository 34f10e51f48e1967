import {
  type FieldRule,
  flag,
  key,
  limit,
  list,
  names,
  object,
  oneOf,
  segment,
  someOf,
  text,
  totalSegments,
  values,
} from './field-rules.ts'

/** The fields that a request may have, by their camelCase names. */
export interface Fields {
  readonly required: Readonly<Record<string, FieldRule>>
  readonly optional: Readonly<Record<string, FieldRule>>
}

const CONDITION = {
  conditionExpression: text,
  expressionAttributeNames: names,
  expressionAttributeValues: values,
  returnValuesOnConditionCheckFailure: oneOf('NONE', 'ALL_OLD'),
}
const PROJECTION = { projectionExpression: text, expressionAttributeNames: names }
const OLD_ONLY = oneOf('NONE', 'ALL_OLD')
const PAGE = {
  ...PROJECTION,
  expressionAttributeValues: values,
  filterExpression: text,
  indexName: text,
  limit,
  select: oneOf('ALL_ATTRIBUTES', 'ALL_PROJECTED_ATTRIBUTES', 'SPECIFIC_ATTRIBUTES', 'COUNT'),
  consistentRead: flag,
  exclusiveStartKey: key,
  nextToken: text,
}

/** What each action reads. */
export const ACTION_FIELDS = {
  get: { required: { key }, optional: { ...PROJECTION, consistentRead: flag } },
  query: {
    required: { keyConditionExpression: text },
    optional: { ...PAGE, scanIndexForward: flag },
  },
  scan: { required: {}, optional: { ...PAGE, segment, totalSegments } },
  put: { required: { item: object }, optional: { ...CONDITION, returnValues: OLD_ONLY } },
  update: {
    required: { key },
    optional: {
      ...CONDITION,
      updateExpression: text,
      returnValues: oneOf('NONE', 'ALL_OLD', 'UPDATED_OLD', 'ALL_NEW', 'UPDATED_NEW'),
    },
  },
  delete: { required: { key }, optional: { ...CONDITION, returnValues: OLD_ONLY } },
  'batch-get': {
    required: { keys: someOf(100) },
    optional: { ...PROJECTION, consistentRead: flag },
  },
  'batch-write': {
    required: {},
    optional: { puts: list(25), deletes: list(25), requests: list(25) },
  },
  'transact-write': { required: { actions: someOf(100) }, optional: { clientRequestToken: text } },
} as const satisfies Record<string, Fields>

/** What one of the `actions` of a transaction reads. */
export const TRANSACT_FIELDS = {
  put: { required: { item: object }, optional: CONDITION },
  update: { required: { key, updateExpression: text }, optional: CONDITION },
  delete: { required: { key }, optional: CONDITION },
  conditionCheck: { required: { key, conditionExpression: text }, optional: CONDITION },
} as const satisfies Record<string, Fields>

/** What one of the `requests` of a batch reads. */
export const WRITE_FIELDS = {
  putRequest: { required: { item: object }, optional: {} },
  deleteRequest: { required: { key }, optional: {} },
} as const satisfies Record<string, Fields>

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
