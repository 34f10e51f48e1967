import { randomUUID } from 'node:crypto'

import type { TableConfig } from '#runtime/tables/table-config.ts'

import type {
  AttributeDefinition,
  BillingMode,
  CreateTable,
  IndexRequest,
  KeyElement,
  Throughput,
} from './table-requests.ts'

const ARN = 'arn:aws:dynamodb:us-east-1:000000000000:table/'
const NO_THROUGHPUT: Throughput = { ReadCapacityUnits: 0, WriteCapacityUnits: 0 }

type TableStatus = 'CREATING' | 'ACTIVE' | 'UPDATING' | 'DELETING'

export interface KnownThroughput extends Throughput {
  readonly NumberOfDecreasesToday: number
  readonly LastIncreaseDateTime?: number
  readonly LastDecreaseDateTime?: number
}

export interface WireIndex extends IndexRequest {
  readonly scope: 'global' | 'local'
  readonly status: TableStatus
  readonly throughput: KnownThroughput
  readonly backfilling?: true
}

/** A table as clients of the protocol know it. */
export interface WireTable {
  readonly name: string
  /** Of the resource that keeps its items. */
  readonly tableId: string
  readonly createdAt: number
  readonly status: TableStatus
  readonly attributes: readonly AttributeDefinition[]
  readonly keySchema: readonly KeyElement[]
  readonly indexes: readonly WireIndex[]
  readonly throughput: KnownThroughput
  /** Left out of descriptions until it was given once. */
  readonly billingMode?: BillingMode
  readonly onDemandSince?: number
  readonly ttlAttribute?: string
  readonly tags: ReadonlyMap<string, string>
  readonly isProtected?: boolean
}

export interface Measured {
  readonly itemCount: number
  readonly sizeBytes: number
}

export const EMPTY: Measured = { itemCount: 0, sizeBytes: 0 }

export const nowSeconds = (): number => Date.now() / 1000

export const knownThroughput = (given: Throughput = NO_THROUGHPUT): KnownThroughput => ({
  ...given,
  NumberOfDecreasesToday: 0,
})

export function newTable(request: CreateTable): WireTable {
  return {
    name: request.TableName,
    tableId: `wire-${randomUUID()}`,
    createdAt: nowSeconds(),
    status: 'CREATING',
    attributes: request.AttributeDefinitions,
    keySchema: request.KeySchema,
    indexes: [
      ...(request.GlobalSecondaryIndexes ?? []).map((index) => newIndex(index, 'global')),
      ...(request.LocalSecondaryIndexes ?? []).map((index) => newIndex(index, 'local')),
    ],
    throughput: knownThroughput(request.ProvisionedThroughput),
    ...(request.BillingMode === 'PAY_PER_REQUEST' && { billingMode: request.BillingMode }),
    tags: new Map((request.Tags ?? []).map((tag) => [tag.Key, tag.Value])),
    ...(request.DeletionProtectionEnabled !== undefined && {
      isProtected: request.DeletionProtectionEnabled,
    }),
  }
}

export const newIndex = (request: IndexRequest, scope: WireIndex['scope']): WireIndex => ({
  ...request,
  scope,
  status: 'CREATING',
  throughput: knownThroughput(request.ProvisionedThroughput),
})

/** What the product keeps of it: a local index is one whose partition key is the table's. */
export function configOf(table: WireTable): TableConfig {
  const indexes = table.indexes.map((index) => ({
    name: index.IndexName,
    ...keysOf(index.KeySchema, table.attributes),
  }))
  return {
    ...keysOf(table.keySchema, table.attributes),
    ...(table.ttlAttribute !== undefined && { ttlAttribute: table.ttlAttribute }),
    ...(indexes.length > 0 && { globalSecondaryIndexes: indexes }),
  }
}

function keysOf(
  keys: readonly KeyElement[],
  attributes: readonly AttributeDefinition[],
): Pick<TableConfig, 'partitionKey' | 'sortKey'> {
  const [partitionKey, sortKey] = keys.map(({ AttributeName: name }) => {
    const attribute = attributes.find((each) => each.AttributeName === name)
    if (attribute === undefined) throw new TypeError(`"${name}" is no attribute of the table`)
    return { name, type: attribute.AttributeType }
  })
  if (partitionKey === undefined) throw new TypeError('A table without keys')
  return { partitionKey, ...(sortKey !== undefined && { sortKey }) }
}

export const arnOf = (name: string): string => ARN + name

/** A table's description; what was never given is left out. */
export function describe(table: WireTable, measured: Measured): Record<string, unknown> {
  const described = (scope: WireIndex['scope']) =>
    table.indexes
      .filter((index) => index.scope === scope)
      .map((index) => describeIndex(table.name, index, measured))
  const [globals, locals] = [described('global'), described('local')]
  return {
    AttributeDefinitions: table.attributes,
    TableName: table.name,
    KeySchema: table.keySchema,
    ...(locals.length > 0 && { LocalSecondaryIndexes: locals }),
    ...(globals.length > 0 && { GlobalSecondaryIndexes: globals }),
    ProvisionedThroughput: table.throughput,
    TableArn: arnOf(table.name),
    TableId: table.tableId.replace('wire-', ''),
    CreationDateTime: table.createdAt,
    ItemCount: measured.itemCount,
    TableSizeBytes: measured.sizeBytes,
    TableStatus: table.status,
    ...billingOf(table),
    ...(table.isProtected !== undefined && { DeletionProtectionEnabled: table.isProtected }),
  }
}

/** What is said of a table when it begins to be deleted: nothing of its schema. */
export function describeDeletion(table: WireTable): Record<string, unknown> {
  const {
    AttributeDefinitions: _attributes,
    KeySchema: _keys,
    LocalSecondaryIndexes: _locals,
    GlobalSecondaryIndexes: _globals,
    CreationDateTime: _created,
    ...description
  } = describe(table, EMPTY)
  return description
}

function billingOf({ billingMode, onDemandSince }: WireTable): Record<string, unknown> {
  if (billingMode === undefined) return {}
  const since = onDemandSince !== undefined && {
    LastUpdateToPayPerRequestDateTime: onDemandSince,
  }
  return {
    BillingModeSummary: { BillingMode: billingMode, ...since },
    TableThroughputModeSummary: { TableThroughputMode: billingMode },
  }
}

function describeIndex(
  tableName: string,
  index: WireIndex,
  measured: Measured,
): Record<string, unknown> {
  const isGlobal = index.scope === 'global'
  return {
    IndexName: index.IndexName,
    KeySchema: index.KeySchema,
    Projection: index.Projection,
    IndexArn: `${arnOf(tableName)}/index/${index.IndexName}`,
    IndexSizeBytes: measured.sizeBytes,
    ItemCount: measured.itemCount,
    ...(isGlobal && {
      IndexStatus: index.status,
      ProvisionedThroughput: index.throughput,
      ...(index.backfilling && { Backfilling: true }),
    }),
  }
}
