import { attributeOf, type Item } from '#runtime/tables/items/attribute-value.ts'
import { keyAttributes } from '#runtime/tables/items/key-schema.ts'
import type { Table } from '#runtime/tables/table.ts'

/** One item of a table, by its key attributes. */
export interface ItemRef {
  readonly table: Table
  readonly key: Item
}

/** One text for each item of a site, in an order that all batches and transactions share. */
export const refText = ({ table, key }: ItemRef): string =>
  JSON.stringify([
    table.tableId,
    ...keyAttributes(table.schema).map(({ name }) => attributeOf(key, name)),
  ])
