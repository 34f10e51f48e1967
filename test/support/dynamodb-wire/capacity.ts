import type { Item } from '#runtime/tables/items/attribute-value.ts'
import { itemSize } from '#runtime/tables/items/size.ts'

const READ_UNIT_BYTES = 4096
const WRITE_UNIT_BYTES = 1024
/** An eventually consistent read costs half. */
const EVENTUAL = 0.5

export interface IndexUnits {
  readonly name: string
  readonly scope: 'global' | 'local'
  readonly units: number
}

export interface Consumed {
  readonly table: number
  /** Those that were read or written. */
  readonly indexes: readonly IndexUnits[]
}

/** What reading one item costs, or looking for one that is not there. */
export const readUnits = (item: Item | undefined, isConsistent: boolean): number =>
  (item === undefined ? 1 : units(itemSize(item), READ_UNIT_BYTES)) * (isConsistent ? 1 : EVENTUAL)

/** What reading a page costs: its items count together, and looking for some is not free. */
export const pageUnits = (items: readonly Item[], isConsistent: boolean): number =>
  Math.max(
    1,
    units(
      items.reduce((sum, item) => sum + itemSize(item), 0),
      READ_UNIT_BYTES,
    ),
  ) * (isConsistent ? 1 : EVENTUAL)

/** What a write costs: the larger of the item before and after. */
export const writeUnits = (...items: readonly (Item | undefined)[]): number =>
  Math.max(
    1,
    ...items.map((item) => (item === undefined ? 1 : units(itemSize(item), WRITE_UNIT_BYTES))),
  )

export const asksCapacity = (request: { readonly ReturnConsumedCapacity?: string }): boolean =>
  (request.ReturnConsumedCapacity ?? 'NONE') !== 'NONE'

/** The field of an answer, if the request asked for it. */
export function capacityField(
  request: { readonly TableName: string; readonly ReturnConsumedCapacity?: string },
  consumed: Consumed,
): Readonly<Record<string, unknown>> {
  const { ReturnConsumedCapacity: asked = 'NONE', TableName } = request
  return asked === 'NONE' ? {} : { ConsumedCapacity: capacityOf(TableName, asked, consumed) }
}

/** Reads in a transaction are reported as reads too. */
export function capacityOfReads(TableName: string, asked: string, { table }: Consumed): object {
  const units = { CapacityUnits: table, ReadCapacityUnits: table }
  return { TableName, ...units, ...(asked === 'INDEXES' && { Table: units }) }
}

/** What was consumed of one table, with its parts when `asked` is `INDEXES`. */
export function capacityOf(
  TableName: string,
  asked: string,
  { table, indexes }: Consumed,
): Readonly<Record<string, unknown>> {
  const CapacityUnits = indexes.reduce((sum, index) => sum + index.units, table)
  const parts = asked === 'INDEXES' && {
    Table: { CapacityUnits: table },
    ...partsOf('GlobalSecondaryIndexes', indexes, 'global'),
    ...partsOf('LocalSecondaryIndexes', indexes, 'local'),
  }
  return { CapacityUnits, TableName, ...parts }
}

/** Several consumptions of one table as one. */
export function summed(all: readonly Consumed[]): Consumed {
  const indexes = new Map<string, IndexUnits>()
  for (const index of all.flatMap((each) => each.indexes)) {
    const known = indexes.get(index.name)?.units ?? 0
    indexes.set(index.name, { ...index, units: known + index.units })
  }
  return { table: all.reduce((sum, each) => sum + each.table, 0), indexes: [...indexes.values()] }
}

function partsOf(
  field: string,
  indexes: readonly IndexUnits[],
  scope: IndexUnits['scope'],
): Readonly<Record<string, unknown>> {
  const parts = indexes
    .filter((index) => index.scope === scope)
    .map(({ name, units: CapacityUnits }) => [name, { CapacityUnits }] as const)
  return parts.length === 0 ? {} : { [field]: Object.fromEntries(parts) }
}

const units = (bytes: number, unit: number): number => Math.ceil(bytes / unit)
