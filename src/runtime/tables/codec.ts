import type { AttributeValue, Item } from './items/attribute-value.ts'
import { plainItem } from './items/plain-json.ts'
import { readPlainItem, readPlainValue } from './items/plain-value.ts'
import { readWireItem, readWireValue } from './items/wire-value.ts'
import { itemOf, type StoredItem } from './store/stored-item.ts'

/** The JSON form in which a caller writes and reads items, keys and values. */
export interface ItemCodec {
  readItem(input: unknown): Item
  readValue(input: unknown): AttributeValue
  writeItem(item: Item): unknown
  /** The same of an item that was read from its row. */
  writeStored(stored: StoredItem): unknown
}

/** DynamoDB's own form: `{ "id": { "S": "a" } }`. */
export const WIRE: ItemCodec = {
  readItem: readWireItem,
  readValue: (input) => readWireValue(input),
  writeItem: (item) => item,
  writeStored: itemOf,
}

/** Plain JSON with markers for what JSON lacks: `{ "id": "a" }`. */
export const PLAIN: ItemCodec = {
  readItem: readPlainItem,
  readValue: (input) => readPlainValue(input),
  writeItem: plainItem,
  writeStored: (stored) => stored,
}
