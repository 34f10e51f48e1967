import { BucketConfig } from '#runtime/buckets/bucket-config.ts'
import { FunctionConfigInput, Grant } from '#runtime/resources/function-config.ts'
import { NewResource } from '#runtime/resources/model.ts'
import { KeyAttribute, SecondaryIndex, TableConfig } from '#runtime/tables/table-config.ts'

import { described, plain, type JsonSchema } from './described.ts'
import { renamable } from './other-sections.ts'

const key = (description: string): JsonSchema =>
  described(KeyAttribute, description, {
    name: 'Name of the attribute.',
    type: '"S": text, "N": number, "B": bytes.',
  })

const NON_KEY_ATTRIBUTES: JsonSchema = {
  description: 'Attributes that the index shows beside keys.',
  type: 'array',
  minItems: 1,
  maxItems: 20,
  uniqueItems: true,
  items: { type: 'string', minLength: 1, maxLength: 255 },
}

/** As this service spells it, and as DynamoDB does. */
const PROJECTIONS = [
  ['projectionType', 'nonKeyAttributes'],
  ['ProjectionType', 'NonKeyAttributes'],
].flatMap(([type = '', attributes = '']): JsonSchema[] => [
  {
    type: 'object',
    properties: {
      [type]: { description: 'All attributes, or keys alone.', enum: ['ALL', 'KEYS_ONLY'] },
    },
    required: [type],
    additionalProperties: false,
  },
  {
    type: 'object',
    properties: {
      [type]: { description: 'Keys and the attributes named.', const: 'INCLUDE' },
      [attributes]: NON_KEY_ATTRIBUTES,
    },
    required: [type, attributes],
    additionalProperties: false,
  },
])

const { name: indexName, ...indexFields } = SecondaryIndex.properties

const INDEX: JsonSchema = {
  description: 'A global secondary index.',
  type: 'object',
  properties: {
    indexName: { description: 'Name of the index.', ...plain(indexName) },
    name: { description: 'Another word for "indexName".', ...plain(indexName) },
    partitionKey: key('Partition key of the index.'),
    sortKey: key('Sort key of the index.'),
    projection: {
      description: 'What the index shows of an item: "ALL" (default), "KEYS_ONLY" or attributes.',
      anyOf: [{ enum: ['ALL', 'KEYS_ONLY'] }, ...PROJECTIONS],
    },
  } satisfies Record<keyof typeof indexFields | 'indexName' | 'name', JsonSchema>,
  required: ['partitionKey'],
  oneOf: [{ required: ['indexName'] }, { required: ['name'] }],
  additionalProperties: false,
}

const TABLE = described(
  TableConfig,
  'Keys and indexes of the table; by default keyed by a text "id".',
  {
    partitionKey: key('Partition key. The keys of a table never change.'),
    sortKey: key('Sort key. The keys of a table never change.'),
    ttlAttribute: 'Attribute with a time in seconds after which the item is deleted.',
    globalSecondaryIndexes: {
      description: 'Indexes by other attributes than the keys.',
      type: 'array',
      maxItems: 20,
      items: INDEX,
    },
  },
)

const BUCKET = described(BucketConfig, 'Bounds of the bucket.', {
  maxObjectBytes: 'Larger objects are refused.',
})

const { access } = Grant.properties
const GRANT: JsonSchema = {
  description: 'A table or bucket that the function reaches.',
  type: 'object',
  properties: {
    resource: {
      description: 'Name of the table or bucket.',
      type: 'string',
      minLength: 1,
      maxLength: 64,
    },
    access: { description: 'What the function may do with it.', ...plain(access) },
  },
  required: ['resource', 'access'],
  additionalProperties: false,
}

const FUNCTION: JsonSchema = {
  ...described(FunctionConfigInput, 'The code of the function and its bounds.', {
    code: 'The code itself, up to 1 MiB; or give "artifact".',
    artifact: 'Path of the code’s file in the deployment; or give "code".',
    handler: 'Name of the export that is called; "default" if left out.',
    timeoutSeconds: 'Seconds after which a call ends, at most 900; 15 if left out.',
    memoryMb: 'Memory in MB, 16 to 512; 128 if left out.',
    environment: 'Names of the environment variables that the function gets.',
    resources: {
      description: 'Tables and buckets that the function reaches.',
      type: 'array',
      maxItems: 100,
      items: GRANT,
    },
  }),
  oneOf: [{ required: ['code'] }, { required: ['artifact'] }],
}

const ofType = (type: string, config: JsonSchema, required: readonly string[] = []) => ({
  if: { properties: { type: { const: type } }, required: ['type'] },
  // oxlint-disable-next-line unicorn/no-thenable -- JSON Schema's own word
  then: { properties: { config }, required },
})

export const RESOURCE: JsonSchema = {
  ...renamable(
    described(NewResource, 'A table, a bucket or a function.', {
      type: '"ddbTable": a table, "s3Bucket": a bucket, "lambdaFunction": a function.',
      name: 'Name by which functions, operations and code use it.',
      config: 'Settings, by type.',
    }),
  ),
  allOf: [
    ofType('ddbTable', TABLE),
    ofType('s3Bucket', BUCKET),
    ofType('lambdaFunction', FUNCTION, ['config']),
  ],
}
