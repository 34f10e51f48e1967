import type { Item } from '#runtime/tables/items/attribute-value.ts'
import { itemSize } from '#runtime/tables/items/size.ts'

const READ_UNIT_BYTES = 4096
const WRITE_UNIT_BYTES = 1024
/** An eventually consistent read costs half. */
const EVENTUAL = 0.5

export interface Consumed {
  readonly table: number
  readonly index?: {
    readonly name: string
    readonly scope: 'global' | 'local'
    readonly units: number
  }
}

/** What reading one item costs, or looking for one that is not there. */
export const readUnits = (item: Item | undefined, isConsistent: boolean): number =>
  (item === undefined ? 1 : units(itemSize(item), READ_UNIT_BYTES)) * (isConsistent ? 1 : EVENTUAL)

/** What reading a page costs: its items count together. */
export const pageUnits = (items: readonly Item[], isConsistent: boolean): number =>
  units(
    items.reduce((sum, item) => sum + itemSize(item), 0),
    READ_UNIT_BYTES,
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
  { table, index }: Consumed,
): Readonly<Record<string, unknown>> {
  const { ReturnConsumedCapacity: asked = 'NONE', TableName } = request
  if (asked === 'NONE') return {}
  const CapacityUnits = table + (index?.units ?? 0)
  const field = index?.scope === 'local' ? 'LocalSecondaryIndexes' : 'GlobalSecondaryIndexes'
  const parts = asked === 'INDEXES' && {
    Table: { CapacityUnits: table },
    ...(index && { [field]: { [index.name]: { CapacityUnits: index.units } } }),
  }
  return { ConsumedCapacity: { CapacityUnits, TableName, ...parts } }
}

const units = (bytes: number, unit: number): number => Math.ceil(bytes / unit)
