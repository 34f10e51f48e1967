import { isDeepStrictEqual } from 'node:util'

import type { Item } from '#runtime/tables/items/attribute-value.ts'

import { type Consumed, type IndexUnits, writeUnits } from './capacity.ts'
import { IndexContents } from './index-contents.ts'
import type { WireIndex, WireTable } from './wire-table.ts'

/** What replacing one item by another costs: the table's write, and those of the indexes that hold either. */
export function writtenCapacity(
  wire: WireTable,
  before: Item | undefined,
  after: Item | undefined,
): Consumed {
  const indexes = wire.indexes.flatMap((index): readonly IndexUnits[] => {
    const units = indexUnits(index, entryOf(wire, index, before), entryOf(wire, index, after))
    return units === 0 ? [] : [{ name: index.IndexName, scope: index.scope, units }]
  })
  return { table: writeUnits(before, after), indexes }
}

/** An entry with another key is one that goes and one that comes. */
function indexUnits(
  { KeySchema: keys }: WireIndex,
  before: Item | undefined,
  after: Item | undefined,
): number {
  if (isDeepStrictEqual(before, after)) return 0
  const hasMoved =
    before !== undefined &&
    after !== undefined &&
    keys.some(({ AttributeName: name }) => !isDeepStrictEqual(before[name], after[name]))
  return hasMoved ? writeUnits(before) + writeUnits(after) : writeUnits(before, after)
}

/** What an index holds of an item; items without its keys are not in it. */
function entryOf(wire: WireTable, index: WireIndex, item: Item | undefined): Item | undefined {
  if (item === undefined) return undefined
  if (index.KeySchema.some((key) => item[key.AttributeName] === undefined)) return undefined
  return IndexContents.of(wire, index)?.narrowed(item) ?? item
}
