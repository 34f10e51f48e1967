import type { IndexUpdate, Throughput, UpdateTable } from './table-requests.ts'
import {
  knownThroughput,
  type KnownThroughput,
  newIndex,
  nowSeconds,
  type WireIndex,
  type WireTable,
} from './wire-table.ts'

type Phase = 'in progress' | 'done'

/** The table while the change is in progress, or with all of it, for `settledTable` to finish. */
export function updatedTable(table: WireTable, request: UpdateTable, phase: Phase): WireTable {
  const { BillingMode: mode, ProvisionedThroughput: asked } = request
  const becomesOnDemand = mode === 'PAY_PER_REQUEST' && table.billingMode !== mode
  const throughput = becomesOnDemand ? emptied(table.throughput) : table.throughput
  const updates = request.GlobalSecondaryIndexUpdates ?? []
  const indexes = table.indexes.map((index) =>
    changedIndex(index, updates, { becomesOnDemand, phase }),
  )
  const created = updates.flatMap(({ Create: index }) => (index ? [newIndex(index, 'global')] : []))
  return {
    ...table,
    status: 'UPDATING',
    attributes: mergedAttributes(table, request),
    throughput: asked ? changed(throughput, asked, phase) : throughput,
    indexes: [...indexes, ...created.map((index) => ({ ...index, backfilling: true as const }))],
    ...(mode !== undefined &&
      (becomesOnDemand || table.billingMode !== undefined) && { billingMode: mode }),
    ...(request.DeletionProtectionEnabled !== undefined && {
      isProtected: request.DeletionProtectionEnabled,
    }),
  }
}

/** The table when all changes are done. */
export function settledTable(table: WireTable): WireTable {
  const indexes = table.indexes
    .filter((index) => index.status !== 'DELETING')
    .map(({ backfilling: _backfilling, ...index }) => ({ ...index, status: 'ACTIVE' as const }))
  const isOnDemand = table.billingMode === 'PAY_PER_REQUEST'
  const keyNames = [table.keySchema, ...indexes.map((index) => index.KeySchema)].flatMap((keys) =>
    keys.map((key) => key.AttributeName),
  )
  return {
    ...table,
    status: 'ACTIVE',
    indexes,
    attributes: table.attributes.filter((each) => keyNames.includes(each.AttributeName)),
    ...(isOnDemand && {
      onDemandSince:
        table.onDemandSince ?? (table.status === 'CREATING' ? table.createdAt : nowSeconds()),
    }),
  }
}

function mergedAttributes(
  table: WireTable,
  { AttributeDefinitions: given = [] }: UpdateTable,
): WireTable['attributes'] {
  const known = new Set(table.attributes.map((each) => each.AttributeName))
  return [...table.attributes, ...given.filter((each) => !known.has(each.AttributeName))]
}

function changedIndex(
  index: WireIndex,
  updates: readonly IndexUpdate[],
  { becomesOnDemand, phase }: { readonly becomesOnDemand: boolean; readonly phase: Phase },
): WireIndex {
  if (index.scope === 'local') return index
  const update = updates.find((each) => (each.Update ?? each.Delete)?.IndexName === index.IndexName)
  if (update?.Delete) return { ...index, status: 'DELETING' }
  const { throughput } = index
  if (update?.Update) {
    const asked = update.Update.ProvisionedThroughput
    return { ...index, status: 'UPDATING', throughput: changed(throughput, asked, phase) }
  }
  return becomesOnDemand ? { ...index, status: 'UPDATING', throughput: emptied(throughput) } : index
}

const emptied = (known: KnownThroughput): KnownThroughput => ({
  ...knownThroughput(),
  NumberOfDecreasesToday: known.NumberOfDecreasesToday,
})

/** The new units hold when the change is done. */
function changed(known: KnownThroughput, asked: Throughput, phase: Phase): KnownThroughput {
  const rises =
    asked.ReadCapacityUnits > known.ReadCapacityUnits ||
    asked.WriteCapacityUnits > known.WriteCapacityUnits
  const falls =
    asked.ReadCapacityUnits < known.ReadCapacityUnits ||
    asked.WriteCapacityUnits < known.WriteCapacityUnits
  return {
    ...known,
    ...(phase === 'done' && asked),
    ...(rises && { LastIncreaseDateTime: nowSeconds() }),
    ...(falls && {
      LastDecreaseDateTime: nowSeconds(),
      NumberOfDecreasesToday: known.NumberOfDecreasesToday + (phase === 'done' ? 1 : 0),
    }),
  }
}
