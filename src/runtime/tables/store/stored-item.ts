import type { Item } from '#runtime/tables/items/attribute-value.ts'
import { type PlainItem, plainItem } from '#runtime/tables/items/plain-json.ts'
import { readPlainItem } from '#runtime/tables/items/plain-value.ts'

/** An item as its row keeps it: plain JSON, as most of its readers want it. */
export type StoredItem = PlainItem

export const storedText = (item: Item): string => JSON.stringify(plainItem(item))

// Only `storedText` writes what these read.
export const storedFrom = (body: string): StoredItem => JSON.parse(body) as StoredItem
/** Bodies with commas between. */
export const allStoredFrom = (bodies: string): StoredItem[] =>
  JSON.parse(`[${bodies}]`) as StoredItem[]

export const itemOf = (stored: StoredItem): Item => readPlainItem(stored)
