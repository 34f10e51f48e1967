import {
  choice,
  type Fields,
  integer,
  flag,
  list,
  long,
  type Rules,
  type Shape,
  struct,
  text,
} from './shape.ts'

const PATTERN = '[a-zA-Z0-9_.-]+'
const NAME = { pattern: PATTERN, minLength: 3, maxLength: 255 } as const

const tableName = text({ required: true, pattern: PATTERN })
/** Of the attributes that a table's definition names. */
const ATTRIBUTE_NAME = { minLength: 1, maxLength: 255 } as const
const indexName = text({ notNull: true, ...NAME })
const billingMode = choice('PROVISIONED', 'PAY_PER_REQUEST')
const units = long({ notNull: true, min: 1 })
const throughput = (rules: Rules = {}): Shape =>
  struct(
    'field',
    'ProvisionedThroughput',
    { WriteCapacityUnits: units, ReadCapacityUnits: units },
    rules,
  )
const keySchema = (keyType: Rules = {}): Shape =>
  list(
    struct('value', 'KeySchemaElement', {
      AttributeName: text({ notNull: true, ...ATTRIBUTE_NAME }),
      KeyType: text({ notNull: true, ...keyType }),
    }),
    { notNull: true, minLength: 1, maxLength: 2 },
  )
const projection = struct(
  'field',
  'Projection',
  {
    ProjectionType: choice('ALL', 'INCLUDE', 'KEYS_ONLY'),
    NonKeyAttributes: list(text(ATTRIBUTE_NAME), { minLength: 1 }),
  },
  { notNull: true },
)
const attributeDefinitions = (rules: Rules = {}): Shape =>
  list(
    struct('value', 'AttributeDefinition', {
      AttributeName: text({ notNull: true, ...ATTRIBUTE_NAME }),
      AttributeType: text({ notNull: true, oneOf: ['B', 'N', 'S'] }),
    }),
    rules,
  )
const index: Fields = { IndexName: indexName, KeySchema: keySchema(), Projection: projection }
const tag = struct('value', 'Tag', { Key: text(), Value: text() })

export const TABLE_SHAPES = {
  CreateTable: {
    AttributeDefinitions: attributeDefinitions({ notNull: true }),
    TableName: tableName,
    BillingMode: billingMode,
    ProvisionedThroughput: throughput(),
    KeySchema: keySchema({ oneOf: ['HASH', 'RANGE'] }),
    GlobalSecondaryIndexes: list(
      struct('value', 'GlobalSecondaryIndex', { ...index, ProvisionedThroughput: throughput() }),
    ),
    LocalSecondaryIndexes: list(struct('value', 'LocalSecondaryIndex', index)),
    Tags: list(tag),
    DeletionProtectionEnabled: flag,
  },
  DescribeTable: { TableName: tableName },
  DeleteTable: { TableName: tableName },
  DescribeTimeToLive: { TableName: tableName },
  UpdateTimeToLive: {
    TableName: tableName,
    TimeToLiveSpecification: struct(
      'field',
      'TimeToLiveSpecification',
      {
        Enabled: { ...flag, notNull: true },
        AttributeName: text({ notNull: true, ...ATTRIBUTE_NAME }),
      },
      { notNull: true },
    ),
  },
  ListTables: {
    Limit: integer({ min: 1, max: 100 }),
    ExclusiveStartTableName: text(NAME),
  },
  UpdateTable: {
    TableName: tableName,
    ProvisionedThroughput: throughput(),
    BillingMode: billingMode,
    AttributeDefinitions: attributeDefinitions(),
    GlobalSecondaryIndexUpdates: list(
      struct('value', 'GlobalSecondaryIndexUpdate', {
        Update: struct('field', 'UpdateGlobalSecondaryIndexAction', {
          IndexName: indexName,
          ProvisionedThroughput: throughput({ notNull: true }),
        }),
        Create: struct('field', 'CreateGlobalSecondaryIndexAction', {
          Projection: projection,
          IndexName: indexName,
          ProvisionedThroughput: throughput(),
          KeySchema: keySchema(),
        }),
        Delete: struct('field', 'DeleteGlobalSecondaryIndexAction', { IndexName: indexName }),
      }),
    ),
    DeletionProtectionEnabled: flag,
  },
  TagResource: { ResourceArn: text(), Tags: list(tag) },
  UntagResource: { ResourceArn: text(), TagKeys: list(text()) },
  ListTagsOfResource: { ResourceArn: text() },
} as const satisfies Readonly<Record<string, Fields>>
