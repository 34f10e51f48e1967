import { AppError } from '#base/app-error.ts'
import type { ItemCodec } from '#runtime/tables/codec.ts'
import type { Expressions } from '#runtime/tables/expressions/expressions.ts'
import { invalidRequest } from '#runtime/tables/fault.ts'
import { attributeOf, type Item } from '#runtime/tables/items/attribute-value.ts'
import { type KeySchema, keyAttributes } from '#runtime/tables/items/key-schema.ts'
import type { ItemPlace } from '#runtime/tables/store/batch-items.ts'
import type { Table } from '#runtime/tables/table.ts'

/** The tables of one site by the names that a request uses. */
export type TablesByName = (name: string) => Table | undefined

/** What a request is read with. */
export interface RequestReading {
  readonly tables: TablesByName
  readonly codec: ItemCodec
  readonly expressions: Expressions
}

type Fields = Readonly<Record<string, unknown>>

export function tableNamed(tables: TablesByName, name: unknown): Table {
  const table = typeof name === 'string' ? tables(name) : undefined
  if (table === undefined) throw new AppError('ResourceNotFound', 'Requested resource not found')
  return table
}

export function fieldsOf(input: unknown): Fields {
  if (typeof input === 'object' && input !== null && !Array.isArray(input)) return { ...input }
  throw invalidRequest('Unexpected value type in payload')
}

export function listOf(input: unknown): readonly unknown[] {
  if (Array.isArray(input)) return input
  throw invalidRequest('Unexpected field type')
}

/** The key attributes of an item that has them. */
export const keyOf = (item: Item, schema: KeySchema): Item =>
  Object.fromEntries(
    keyAttributes(schema).flatMap(({ name }) => {
      const value = attributeOf(item, name)
      return value === undefined ? [] : [[name, value]]
    }),
  )

/** One text for each item of a site, in an order that all batches and transactions share. */
export const placeText = ({ table, key }: ItemPlace): string =>
  JSON.stringify([
    table.tableId,
    ...keyAttributes(table.schema).map(({ name }) => attributeOf(key, name)),
  ])

/** Refuses two requests for one item. */
export function checkDistinct(places: readonly ItemPlace[], message: string): void {
  if (new Set(places.map(placeText)).size < places.length) throw invalidRequest(message)
}
