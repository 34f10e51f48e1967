import type { CreateTable, IndexRequest, KeyElement, Throughput } from './table-requests.ts'
import { dynamoError, validationFault, type WireError } from './wire-error.ts'

const INVALID = 'One or more parameter values were invalid: '
const MAX_UNITS = 1_000_000_000_000
const MAX_LOCAL_INDEXES = 5
const MAX_GLOBAL_INDEXES = 20

/** Refuses a table that cannot be, by the first thing that DynamoDB would say of it. */
export function checkCreation(request: CreateTable): void {
  checkBilling(request)
  const keys = request.KeySchema
  const defined = request.AttributeDefinitions.map((each) => each.AttributeName)
  if (keys.length > defined.length) {
    throw validationFault('Invalid KeySchema: Some index key attribute have no definition')
  }
  checkKeySchema(keys, defined)
  checkDefinedOnce(defined)
  const { LocalSecondaryIndexes: locals, GlobalSecondaryIndexes: globals } = request
  if (!locals && !globals && keys.length !== defined.length) {
    throw invalid(
      'Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions',
    )
  }
  const names = new Set<string>()
  if (locals) checkLocals(locals, { request, defined, names })
  if (globals) checkGlobals(globals, { request, defined, names })
  checkAllUsed(request, defined)
  if (request.BillingMode !== 'PAY_PER_REQUEST') checkThroughputs(globals ?? [])
}

function checkDefinedOnce(defined: readonly string[]): void {
  const twice = twiceIn(defined)
  if (twice !== undefined) throw validationFault(`Attribute Name is duplicated: ${twice}`)
}

function checkAllUsed(request: CreateTable, defined: readonly string[]): void {
  const { LocalSecondaryIndexes: locals = [], GlobalSecondaryIndexes: globals = [] } = request
  const schemas = [request, ...locals, ...globals].map((each) => each.KeySchema)
  const used = new Set(schemas.flat().map((key) => key.AttributeName))
  if (defined.every((name) => used.has(name))) return
  throw invalid(
    'Some AttributeDefinitions are not used. ' +
      `AttributeDefinitions: [${defined.join(', ')}], keys used: [${[...used].join(', ')}]`,
  )
}

function checkThroughputs(indexes: readonly IndexRequest[]): void {
  const without = indexes.find((index) => index.ProvisionedThroughput === undefined)
  if (without === undefined) return
  throw invalid(`ProvisionedThroughput is not specified for index: ${without.IndexName}`)
}

const twiceIn = (names: readonly string[]): string | undefined =>
  names.find((name, at) => names.indexOf(name) !== at)

export function checkUnits(throughput: Throughput): void {
  for (const name of ['ReadCapacityUnits', 'WriteCapacityUnits'] as const) {
    if (throughput[name] <= MAX_UNITS) continue
    throw validationFault(`Given value ${throughput[name]} for ${name} is out of bounds`)
  }
}

export const NO_UNITS_ON_DEMAND =
  'Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST'

export const invalid = (words: string): WireError => validationFault(INVALID + words)

function checkBilling({ BillingMode: mode, ProvisionedThroughput: throughput }: CreateTable): void {
  if (mode === 'PAY_PER_REQUEST') {
    if (throughput) throw invalid(NO_UNITS_ON_DEMAND)
    return
  }
  if (!throughput) {
    throw invalid(
      'ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED',
    )
  }
  checkUnits(throughput)
}

export function checkKeySchema(keys: readonly KeyElement[], defined: readonly string[]): void {
  const names = keys.map((key) => key.AttributeName)
  if (names.some((name) => !defined.includes(name))) {
    throw invalid(
      'Some index key attributes are not defined in AttributeDefinitions. ' +
        `Keys: [${names.join(', ')}], AttributeDefinitions: [${defined.join(', ')}]`,
    )
  }
  if (names[0] === names[1]) {
    throw validationFault(
      'Both the Hash Key and the Range Key element in the KeySchema have the same name',
    )
  }
  for (const [at, type, words] of [
    [0, 'HASH', 'first KeySchemaElement is not a HASH'],
    [1, 'RANGE', 'second KeySchemaElement is not a RANGE'],
  ] as const) {
    const key = keys[at]
    if (key === undefined || key.KeyType === type) continue
    throw validationFault(`Invalid KeySchema: The ${words} key type`)
  }
}

interface Around {
  readonly request: CreateTable
  readonly defined: readonly string[]
  /** Of the indexes before. */
  readonly names: Set<string>
}

function checkLocals(indexes: readonly IndexRequest[], around: Around): void {
  const { KeySchema: keys } = around.request
  if (indexes.length === 0) throw invalid('List of LocalSecondaryIndexes is empty')
  if (keys.length !== 2) {
    throw invalid(
      'Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex',
    )
  }
  for (const index of indexes) {
    checkKeySchema(index.KeySchema, around.defined)
    checkLocalKeys(index, keys)
    checkProjection(index)
    checkName(index, around.names)
  }
  if (indexes.length > MAX_LOCAL_INDEXES) {
    throw invalid(`Number of LocalSecondaryIndexes exceeds per-table limit of ${MAX_LOCAL_INDEXES}`)
  }
}

function checkLocalKeys(index: IndexRequest, keys: readonly KeyElement[]): void {
  const [hash, range] = index.KeySchema
  if (range === undefined) {
    throw invalid(`Index KeySchema does not have a range key for index: ${index.IndexName}`)
  }
  const [own, table] = [hash?.AttributeName, keys[0]?.AttributeName]
  if (own === table) return
  throw invalid(
    'Index KeySchema does not have the same leading hash key as table KeySchema ' +
      `for index: ${index.IndexName}. index hash key: ${own}, table hash key: ${table}`,
  )
}

function checkGlobals(indexes: readonly IndexRequest[], around: Around): void {
  if (indexes.length === 0) throw invalid('List of GlobalSecondaryIndexes is empty')
  for (const index of indexes) {
    checkKeySchema(index.KeySchema, around.defined)
    checkProjection(index)
    if (around.request.BillingMode === 'PAY_PER_REQUEST' && index.ProvisionedThroughput) {
      throw invalid(
        `ProvisionedThroughput should not be specified for index: ${index.IndexName} when BillingMode is PAY_PER_REQUEST`,
      )
    }
    checkName(index, around.names)
  }
  if (indexes.length > MAX_GLOBAL_INDEXES) {
    throw invalid(`GlobalSecondaryIndex count exceeds the per-table limit of ${MAX_GLOBAL_INDEXES}`)
  }
}

export function checkProjection({ Projection: projection }: IndexRequest): void {
  const { ProjectionType: type, NonKeyAttributes: attributes } = projection
  if (type === undefined) throw invalid('Unknown ProjectionType: null')
  if (attributes && type !== 'INCLUDE') {
    throw invalid(`ProjectionType is ${type}, but NonKeyAttributes is specified`)
  }
  if (!attributes && type === 'INCLUDE') {
    throw invalid('ProjectionType is INCLUDE, but NonKeyAttributes is not specified')
  }
  const twice = twiceIn(attributes ?? [])
  if (twice !== undefined) throw invalid(`Duplicate element in NonKeyAttributes: ${twice}`)
}

function checkName({ IndexName: name }: IndexRequest, names: Set<string>): void {
  if (names.has(name)) throw invalid(`Duplicate index name: ${name}`)
  names.add(name)
}

export const limitExceeded = (words: string): WireError =>
  dynamoError('LimitExceededException', words)
