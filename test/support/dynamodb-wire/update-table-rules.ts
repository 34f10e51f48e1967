import {
  checkKeySchema,
  checkProjection,
  checkUnits,
  invalid,
  limitExceeded,
  NO_UNITS_ON_DEMAND,
} from './create-table-rules.ts'
import type { IndexRequest, IndexUpdate, Throughput, UpdateTable } from './table-requests.ts'
import { dynamoError, validationFault } from './wire-error.ts'
import type { WireTable } from './wire-table.ts'

const MAX_UNITS = 1_000_000_000_000
const MAX_INDEX_UPDATES = 5
const ONE_INDEX_AT_A_TIME =
  'Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table'

/** What the request alone shows. */
export function checkUpdate(request: UpdateTable): void {
  const { ProvisionedThroughput: throughput, GlobalSecondaryIndexUpdates: updates = [] } = request
  const asksNothing = !throughput && !request.BillingMode && updates.length === 0
  if (asksNothing && request.DeletionProtectionEnabled === undefined) {
    throw validationFault(
      'At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates or SSESpecification or ReplicaUpdates is required',
    )
  }
  if (request.BillingMode === 'PROVISIONED' && !throughput) {
    throw invalid('ProvisionedThroughput must be specified when BillingMode is PROVISIONED')
  }
  if (throughput) checkUnits(throughput)
  checkIndexNames(updates)
}

function checkIndexNames(updates: readonly IndexUpdate[]): void {
  const names = new Set<string>()
  for (const update of updates) {
    const [given, second] = [update.Update, update.Create, update.Delete].filter(Boolean)
    if (second !== undefined) {
      throw invalid(
        'Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object',
      )
    }
    const { IndexName: name } = given ?? {}
    if (name === undefined) {
      throw invalid(
        'One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Delete must not be null',
      )
    }
    if (names.has(name)) {
      throw invalid(
        `Only one global secondary index update per index is allowed simultaneously. Index: ${name}`,
      )
    }
    names.add(name)
  }
}

/** What it shows beside the table as it is. */
export function checkUpdateOf(table: WireTable, request: UpdateTable): void {
  const mode = request.BillingMode ?? table.billingMode ?? 'PROVISIONED'
  if (request.ProvisionedThroughput && mode === 'PAY_PER_REQUEST') {
    throw invalid(NO_UNITS_ON_DEMAND)
  }
  const updates = request.GlobalSecondaryIndexUpdates ?? []
  if (updates.length > MAX_INDEX_UPDATES) throw limitExceeded(ONE_INDEX_AT_A_TIME)
  checkIndexThroughputs(table, request)
  for (const { known, asked } of throughputChanges(table, request)) checkChange(known, asked)
  if (updates.filter((update) => update.Create ?? update.Delete).length > 1) {
    throw limitExceeded(ONE_INDEX_AT_A_TIME)
  }
  for (const update of updates) checkIndexUpdate(table, request, update)
}

function checkIndexThroughputs(table: WireTable, request: UpdateTable): void {
  const updates = request.GlobalSecondaryIndexUpdates ?? []
  for (const { Update: update } of updates) {
    const { ProvisionedThroughput: asked } = update ?? {}
    if (Math.max(...Object.values(asked ?? {}), 0) <= MAX_UNITS) continue
    throw validationFault(
      'This operation cannot be performed with given input values. Please contact DynamoDB service team for more info: Action Blocked: IndexUpdate',
    )
  }
  if (request.BillingMode === 'PROVISIONED' && table.billingMode === 'PAY_PER_REQUEST') {
    checkAllIndexesNamed(table, updates)
  }
}

function checkAllIndexesNamed(table: WireTable, updates: readonly IndexUpdate[]): void {
  const named = new Set(updates.map((update) => update.Update?.IndexName))
  const missing = globalsOf(table).filter((name) => !named.has(name))
  if (missing.length > 0) {
    throw invalid(`ProvisionedThroughput must be specified for index: ${missing.join(',')}`)
  }
}

interface ThroughputChange {
  readonly known: Throughput
  readonly asked: Throughput
}

function throughputChanges(table: WireTable, request: UpdateTable): ThroughputChange[] {
  const { ProvisionedThroughput: asked } = request
  const ofIndexes = (request.GlobalSecondaryIndexUpdates ?? []).flatMap(({ Update: update }) => {
    const index = table.indexes.find((each) => each.IndexName === update?.IndexName)
    return update && index ? [{ known: index.throughput, asked: update.ProvisionedThroughput }] : []
  })
  return asked ? [{ known: table.throughput, asked }, ...ofIndexes] : ofIndexes
}

function checkChange(known: Throughput, asked: Throughput): void {
  const { ReadCapacityUnits: reads, WriteCapacityUnits: writes } = known
  if (asked.ReadCapacityUnits !== reads || asked.WriteCapacityUnits !== writes) return
  throw validationFault(
    'The provisioned throughput for the table will not change. The requested value equals the current value. ' +
      `Current ReadCapacityUnits provisioned for the table: ${reads}. Requested ReadCapacityUnits: ${reads}. ` +
      `Current WriteCapacityUnits provisioned for the table: ${writes}. Requested WriteCapacityUnits: ${writes}. ` +
      'Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits.',
  )
}

function checkIndexUpdate(table: WireTable, request: UpdateTable, update: IndexUpdate): void {
  const globals = globalsOf(table)
  if (update.Create) return checkNewIndex(table, request, update.Create)
  const name = (update.Update ?? update.Delete)?.IndexName
  if (name === undefined || globals.includes(name)) return
  if (table.indexes.some((index) => index.IndexName === name)) {
    const what = update.Update ? 'update' : 'delete'
    throw validationFault(`Cannot ${what} an index that is not a GlobalSecondaryIndex: ${name}`)
  }
  throw dynamoError('ResourceNotFoundException', 'Requested resource not found')
}

function checkNewIndex(table: WireTable, request: UpdateTable, index: IndexRequest): void {
  const { IndexName: name, KeySchema: keys } = index
  if (table.indexes.some((each) => each.IndexName === name)) {
    throw validationFault(`Attempting to create an index which already exists`)
  }
  const { AttributeDefinitions: defined = [] } = request
  if (defined.length === 0) {
    throw invalid(`AttributeDefinitions is not specified for index: ${name}`)
  }
  // The table's own attributes have to be defined again.
  checkKeySchema(
    keys,
    defined.map((each) => each.AttributeName),
  )
  checkProjection(index)
  for (const { AttributeName: attribute, KeyType: kind } of keys) {
    checkSameType({ table, request, attribute, kind })
  }
  checkIndexUnits(request.BillingMode ?? table.billingMode ?? 'PROVISIONED', index)
}

interface Redefined {
  readonly table: WireTable
  readonly request: UpdateTable
  readonly attribute: string
  readonly kind: string
}

function checkSameType({ table, request, attribute, kind }: Redefined): void {
  const typeIn = (definitions: WireTable['attributes']): string | undefined =>
    definitions.find((each) => each.AttributeName === attribute)?.AttributeType
  const [known, asked] = [typeIn(table.attributes), typeIn(request.AttributeDefinitions ?? [])]
  if (known === undefined || known === asked) return
  const schema = (type: string | undefined): string =>
    `Schema:[SchemaElement: key{${attribute}:${type}:${kind}}]`
  throw invalid(
    'Attributes cannot be redefined. Please check that your attribute has the same type as previously defined. ' +
      `Existing schema: ${schema(known)} New schema: ${schema(asked)}`,
  )
}

function checkIndexUnits(
  mode: string,
  { IndexName: name, ProvisionedThroughput: units }: IndexRequest,
): void {
  const isOnDemand = mode === 'PAY_PER_REQUEST'
  if (isOnDemand && units) {
    throw invalid(
      `Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for index: ${name} when BillingMode is PAY_PER_REQUEST`,
    )
  }
  if (isOnDemand || units) return
  throw invalid(
    `Both ReadCapacityUnits and WriteCapacityUnits must be specified for index: ${name}`,
  )
}

const globalsOf = (table: WireTable): string[] =>
  table.indexes.filter((index) => index.scope === 'global').map((index) => index.IndexName)
