import { attributeOf, type Item, typeOf } from '#runtime/tables/items/attribute-value.ts'
import { type KeySchema, keyAttributes, keyFits } from '#runtime/tables/items/key-schema.ts'

import { type ItemKey, itemKeyOf } from './item-key.ts'

/** How the rows of a table are kept. Every change of it has a generation. */
export interface TableLayout {
  readonly generation: number
  readonly ttlAttribute: string | undefined
  /** Those that items are entered in, whether they can be read yet or not. */
  readonly indexes: readonly LayoutIndex[]
}

export interface LayoutIndex extends KeySchema {
  readonly indexId: number
  readonly name: string
}

export interface IndexEntry {
  readonly indexId: number
  readonly key: ItemKey
}

/** The places of an item in the indexes. One that lacks an index's keys, or has them of another type, is not in it. */
export function indexEntriesOf(item: Item, indexes: readonly LayoutIndex[]): IndexEntry[] {
  return indexes
    .filter((index) =>
      keyAttributes(index).every((attribute) => {
        const value = attributeOf(item, attribute.name)
        return (
          value !== undefined &&
          typeOf(value) === attribute.type &&
          keyFits(attribute, value, index)
        )
      }),
    )
    .map((index) => ({ indexId: index.indexId, key: itemKeyOf(item, index) }))
}
