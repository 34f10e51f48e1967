import type { AttributeValue, Item } from './items/attribute-value.ts'
import { plainItem } from './items/plain-json.ts'
import { readPlainItem, readPlainValue } from './items/plain-value.ts'
import { readWireItem, readWireValue } from './items/wire-value.ts'

/** The JSON form in which a caller writes and reads items, keys and values. */
export interface ItemCodec {
  readItem(input: unknown): Item
  readValue(input: unknown): AttributeValue
  writeItem(item: Item): unknown
}

/** DynamoDB's own form: `{ "id": { "S": "a" } }`. */
export const WIRE: ItemCodec = {
  readItem: readWireItem,
  readValue: (input) => readWireValue(input),
  writeItem: (item) => item,
}

/** Plain JSON with markers for what JSON lacks: `{ "id": "a" }`. */
export const PLAIN: ItemCodec = {
  readItem: readPlainItem,
  readValue: (input) => readPlainValue(input),
  writeItem: plainItem,
}
