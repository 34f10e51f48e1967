import type { TableSchema } from '#runtime/tables/items/key-schema.ts'

/** The tables that both sides have. */
export const TABLES = {
  rows: {
    partitionKey: { name: 'pk', type: 'S' },
    sortKey: { name: 'sk', type: 'N' },
    globalSecondaryIndexes: [{ name: 'by-g', partitionKey: { name: 'g', type: 'S' } }],
  },
  texts: { partitionKey: { name: 'pk', type: 'S' }, sortKey: { name: 'sk', type: 'S' } },
  bytes: { partitionKey: { name: 'pk', type: 'N' }, sortKey: { name: 'sk', type: 'B' } },
  pool: { partitionKey: { name: 'pk', type: 'S' } },
} as const satisfies Record<string, TableSchema>
export type TableName = keyof typeof TABLES

export const schemaOf = (name: TableName): TableSchema => TABLES[name]

export const creationOf = (name: TableName): object => creationRequest(name, schemaOf(name))

/** The body of the CreateTable request for a table. */
export function creationRequest(name: string, schema: TableSchema): object {
  const indexes = schema.globalSecondaryIndexes ?? []
  const keys = [schema, ...indexes].flatMap(({ partitionKey, sortKey }) =>
    sortKey === undefined ? [partitionKey] : [partitionKey, sortKey],
  )
  return {
    TableName: name,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [...new Map(keys.map((key) => [key.name, key])).values()].map((key) => ({
      AttributeName: key.name,
      AttributeType: key.type,
    })),
    KeySchema: keySchemaOf(schema),
    ...(indexes.length > 0 && {
      GlobalSecondaryIndexes: indexes.map((index) => ({
        IndexName: index.name,
        KeySchema: keySchemaOf(index),
        Projection: { ProjectionType: 'ALL' },
      })),
    }),
  }
}

const keySchemaOf = ({ partitionKey, sortKey }: TableSchema): object[] => [
  { AttributeName: partitionKey.name, KeyType: 'HASH' },
  ...(sortKey === undefined ? [] : [{ AttributeName: sortKey.name, KeyType: 'RANGE' }]),
]
