import { type Static, Type } from '@sinclair/typebox'

import { AppError, type FieldFault, invalid } from '#base/app-error.ts'
import { ClosedObject } from '#base/closed-object.ts'
import { invalidFields } from '#runtime/shape.ts'

/** DynamoDB's own bounds: attribute names up to 255 characters, 20 global secondary indexes. */
const AttributeName = Type.String({ minLength: 1, maxLength: 255 })

export const KeyAttribute = ClosedObject({
  name: AttributeName,
  type: Type.Union([Type.Literal('S'), Type.Literal('N'), Type.Literal('B')]),
})

/** What an index shows of its items beside keys; an index without a projection shows all. */
const IndexProjection = Type.Union(
  [
    ClosedObject({ projectionType: Type.Literal('KEYS_ONLY') }),
    ClosedObject({
      projectionType: Type.Literal('INCLUDE'),
      nonKeyAttributes: Type.Array(AttributeName, { minItems: 1, maxItems: 20, uniqueItems: true }),
    }),
  ],
  {
    fault:
      'must be "ALL", "KEYS_ONLY", or { "projectionType": "INCLUDE", "nonKeyAttributes": ["…"] } with up to 20 names',
  },
)

export const SecondaryIndex = ClosedObject({
  name: Type.String({
    pattern: '^[A-Za-z0-9_.-]{3,255}$',
    fault: 'must be 3 to 255 letters, digits, "_", "-" or "."',
  }),
  partitionKey: KeyAttribute,
  sortKey: Type.Optional(KeyAttribute),
  projection: Type.Optional(IndexProjection),
})

export const TableConfig = ClosedObject({
  partitionKey: KeyAttribute,
  sortKey: Type.Optional(KeyAttribute),
  ttlAttribute: Type.Optional(AttributeName),
  globalSecondaryIndexes: Type.Optional(Type.Array(SecondaryIndex, { maxItems: 20 })),
})
export type TableConfig = Static<typeof TableConfig>

/** What the shape alone cannot say: one attribute has one type, a key has two different attributes, index names differ. */
export function checkTable(config: TableConfig): TableConfig {
  const faults = [...sameAttributeTwice(config), ...indexNameTwice(config), ...typeClashes(config)]
  if (faults.length > 0) throw invalidFields(faults)
  if (config.ttlAttribute !== undefined && config.ttlAttribute === config.partitionKey.name) {
    throw invalid('config.ttlAttribute', 'must not be a key attribute')
  }
  return config
}

/** Items are stored under their keys, so a table's keys are for life. */
export function checkKeysUnchanged(before: TableConfig, after: TableConfig): void {
  for (const key of ['partitionKey', 'sortKey'] as const) {
    const [was, is] = [before[key], after[key]]
    if (was?.name === is?.name && was?.type === is?.type) continue
    throw new AppError(
      'ImmutableField',
      `config.${key} of a table never changes: create another table and move the items`,
      { details: [{ field: `config.${key}`, message: 'never changes' }] },
    )
  }
}

function keySchemas(config: TableConfig) {
  const indexes = config.globalSecondaryIndexes ?? []
  return [
    { field: 'config', ...config },
    ...indexes.map((index, at) => ({ field: `config.globalSecondaryIndexes[${at}]`, ...index })),
  ]
}

function sameAttributeTwice(config: TableConfig): FieldFault[] {
  return keySchemas(config)
    .filter(({ partitionKey, sortKey }) => partitionKey.name === sortKey?.name)
    .map(({ field }) => ({
      field: `${field}.sortKey`,
      message: 'must be another attribute than the partition key',
    }))
}

function indexNameTwice(config: TableConfig): FieldFault[] {
  const names = (config.globalSecondaryIndexes ?? []).map((index) => index.name)
  return names.flatMap((name, at) =>
    names.indexOf(name) === at
      ? []
      : [
          {
            field: `config.globalSecondaryIndexes[${at}].name`,
            message: `"${name}" is already an index of this table`,
          },
        ],
  )
}

function typeClashes(config: TableConfig): FieldFault[] {
  const types = new Map<string, string>()
  const faults: FieldFault[] = []
  for (const { field, partitionKey, sortKey } of keySchemas(config)) {
    for (const { name, type } of sortKey ? [partitionKey, sortKey] : [partitionKey]) {
      const known = types.get(name) ?? type
      types.set(name, known)
      if (known !== type) {
        faults.push({
          field,
          message: `attribute "${name}" is ${known} in one key and ${type} here`,
        })
      }
    }
  }
  return faults
}
