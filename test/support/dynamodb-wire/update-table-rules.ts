import {
  checkKeySchema,
  checkProjection,
  checkUnits,
  invalid,
  limitExceeded,
  NO_UNITS_ON_DEMAND,
} from './create-table-rules.ts'
import type { IndexUpdate, Throughput, UpdateTable } from './table-requests.ts'
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
    const { IndexName: name } = update.Update ?? update.Create ?? update.Delete ?? {}
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
  if (update.Create) {
    const { IndexName: name, KeySchema: keys } = update.Create
    if (table.indexes.some((index) => index.IndexName === name)) {
      throw validationFault(`Attempting to create an index which already exists`)
    }
    const defined = [...table.attributes, ...(request.AttributeDefinitions ?? [])]
    checkKeySchema(
      keys,
      defined.map((each) => each.AttributeName),
    )
    checkProjection(update.Create)
    return
  }
  const name = (update.Update ?? update.Delete)?.IndexName
  if (name === undefined || globals.includes(name)) return
  throw dynamoError('ResourceNotFoundException', 'Requested resource not found')
}

const globalsOf = (table: WireTable): string[] =>
  table.indexes.filter((index) => index.scope === 'global').map((index) => index.IndexName)
