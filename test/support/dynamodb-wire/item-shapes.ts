import {
  choice,
  type Fields,
  fieldValue,
  flag,
  integer,
  list,
  map,
  type Shape,
  struct,
  text,
  value,
  values,
} from './shape.ts'

const NAME = { pattern: '[a-zA-Z0-9_.-]+', minLength: 3, maxLength: 255 } as const
const KEY_NAME = { pattern: NAME.pattern, minLength: 3, maxLength: 255, orArn: true } as const
const OPERATORS = [
  'IN',
  'NULL',
  'BETWEEN',
  'LT',
  'NOT_CONTAINS',
  'EQ',
  'GT',
  'NOT_NULL',
  'NE',
  'LE',
  'BEGINS_WITH',
  'GE',
  'CONTAINS',
] as const

const tableName = text({ notNull: true, ...NAME, orArn: true })
const indexName = text(NAME)
const names = map(text(), 'java.lang.String')
const capacity = choice('INDEXES', 'TOTAL', 'NONE')
const metrics = choice('SIZE', 'NONE')
const conditionalOperator = choice('OR', 'AND')
const returnValues = choice('ALL_NEW', 'UPDATED_OLD', 'ALL_OLD', 'NONE', 'UPDATED_NEW')
const onFailure = choice('ALL_OLD', 'NONE')
const select = choice('SPECIFIC_ATTRIBUTES', 'COUNT', 'ALL_ATTRIBUTES', 'ALL_PROJECTED_ATTRIBUTES')
const attributesToGet = list(text(), { minLength: 1, maxLength: 255 })
const item = values({ notNull: true })

const conditions = map(
  struct('value', 'Condition', {
    AttributeValueList: list(value),
    ComparisonOperator: text({ notNull: true, oneOf: OPERATORS }),
  }),
  'Condition',
)
const expected = map(
  struct('value', 'ExpectedAttributeValue', {
    AttributeValueList: list(value),
    ComparisonOperator: choice(...OPERATORS),
    Exists: flag,
    Value: fieldValue,
  }),
  'ExpectedAttributeValue',
)
const attributeUpdates = map(
  struct('value', 'AttributeValueUpdate', {
    Action: choice('ADD', 'PUT', 'DELETE'),
    Value: fieldValue,
  }),
  'AttributeValueUpdate',
)
const condition: Fields = {
  ConditionExpression: text(),
  ExpressionAttributeValues: values(),
  ExpressionAttributeNames: names,
  ReturnValuesOnConditionCheckFailure: onFailure,
}

const keysAndAttributes = struct('value', 'KeysAndAttributes', {
  Keys: list({ ...values(), parameterized: true } as Shape, {
    notNull: true,
    minLength: 1,
    maxLength: 100,
  }),
  AttributesToGet: attributesToGet,
  ConsistentRead: flag,
  ProjectionExpression: text(),
  ExpressionAttributeNames: names,
})
const writeRequest = struct('value', 'WriteRequest', {
  DeleteRequest: struct('field', 'DeleteRequest', { Key: item }),
  PutRequest: struct('field', 'PutRequest', { Item: item }),
})

const required: Fields = { ...condition, ConditionExpression: text({ notNull: true }) }
const transactWrite = (of: string, fields: Fields, conditions = condition): Shape =>
  struct('field', of, { TableName: tableName, ...fields, ...conditions })

export const ITEM_SHAPES = {
  GetItem: {
    ReturnConsumedCapacity: capacity,
    AttributesToGet: attributesToGet,
    TableName: tableName,
    Key: item,
    ConsistentRead: flag,
    ProjectionExpression: text(),
    ExpressionAttributeNames: names,
  },
  PutItem: {
    ReturnConsumedCapacity: capacity,
    TableName: tableName,
    Item: item,
    ConditionalOperator: conditionalOperator,
    Expected: expected,
    ReturnValues: returnValues,
    ReturnItemCollectionMetrics: metrics,
    ...condition,
  },
  UpdateItem: {
    ReturnConsumedCapacity: capacity,
    TableName: tableName,
    ReturnItemCollectionMetrics: metrics,
    ReturnValues: returnValues,
    ConditionalOperator: conditionalOperator,
    Key: item,
    Expected: expected,
    AttributeUpdates: attributeUpdates,
    UpdateExpression: text(),
    ...condition,
  },
  DeleteItem: {
    ReturnConsumedCapacity: capacity,
    TableName: tableName,
    ReturnValues: returnValues,
    ReturnItemCollectionMetrics: metrics,
    Key: item,
    ConditionalOperator: conditionalOperator,
    Expected: expected,
    ...condition,
  },
  Query: {
    Select: select,
    IndexName: indexName,
    ReturnConsumedCapacity: capacity,
    QueryFilter: conditions,
    TableName: tableName,
    ConditionalOperator: conditionalOperator,
    AttributesToGet: attributesToGet,
    Limit: integer({ min: 1 }),
    KeyConditions: conditions,
    ExclusiveStartKey: values(),
    ConsistentRead: flag,
    ScanIndexForward: flag,
    KeyConditionExpression: text(),
    FilterExpression: text(),
    ProjectionExpression: text(),
    ExpressionAttributeValues: values(),
    ExpressionAttributeNames: names,
  },
  Scan: {
    Select: select,
    IndexName: indexName,
    TotalSegments: integer({ min: 1, max: 1_000_000 }),
    ReturnConsumedCapacity: capacity,
    TableName: tableName,
    ConditionalOperator: conditionalOperator,
    ScanFilter: conditions,
    Segment: integer({ min: 0, max: 999_999 }),
    Limit: integer({ min: 1 }),
    AttributesToGet: attributesToGet,
    ExclusiveStartKey: values(),
    ConsistentRead: flag,
    FilterExpression: text(),
    ProjectionExpression: text(),
    ExpressionAttributeValues: values(),
    ExpressionAttributeNames: names,
  },
  BatchGetItem: {
    ReturnConsumedCapacity: capacity,
    RequestItems: map(keysAndAttributes, 'KeysAndAttributes', {
      notNull: true,
      minLength: 1,
      keys: KEY_NAME,
    }),
  },
  BatchWriteItem: {
    ReturnConsumedCapacity: capacity,
    ReturnItemCollectionMetrics: metrics,
    RequestItems: map(
      { kind: 'List', member: writeRequest, parameterized: true },
      'java.util.List<com.amazonaws.dynamodb.v20120810.WriteRequest>',
      {
        javaText: true,
        notNull: true,
        minLength: 1,
        keys: KEY_NAME,
        values: { minLength: 1, maxLength: 25 },
      },
    ),
  },
  TransactGetItems: {
    ReturnConsumedCapacity: capacity,
    TransactItems: list(
      struct('value', 'TransactGetItem', {
        Get: struct('field', 'Get', {
          Key: item,
          TableName: tableName,
          ProjectionExpression: text(),
          ExpressionAttributeNames: names,
        }),
      }),
      { notNull: true, minLength: 1, maxLength: 100 },
    ),
  },
  TransactWriteItems: {
    ClientRequestToken: text({ minLength: 1, maxLength: 36 }),
    ReturnConsumedCapacity: capacity,
    ReturnItemCollectionMetrics: metrics,
    TransactItems: list(
      struct('value', 'TransactWriteItem', {
        ConditionCheck: transactWrite('ConditionCheck', { Key: item }, required),
        Put: transactWrite('Put', { Item: item }),
        Delete: transactWrite('Delete', { Key: item }),
        Update: transactWrite('Update', { Key: item, UpdateExpression: text({ notNull: true }) }),
      }),
      { notNull: true, minLength: 1, maxLength: 100 },
    ),
  },
} as const satisfies Readonly<Record<string, Fields>>
