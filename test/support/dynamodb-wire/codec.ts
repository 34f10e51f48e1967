import type { AttributeValue, Item } from '#runtime/tables/items/attribute-value.ts'
import { type PlainItem, plainItem, plainValue } from '#runtime/tables/items/plain-json.ts'
import { readPlainItem, readPlainValue } from '#runtime/tables/items/plain-value.ts'

import { readWireItem, readWireValue } from './wire-value.ts'

/** The JSON form in which a caller writes and reads items, keys and values. */
export interface ItemCodec {
  readItem(input: unknown): Item
  readonly readValue: (input: unknown) => AttributeValue
  /** What the tables take for it. */
  plainItem(input: unknown): PlainItem
  plainValue(input: unknown): unknown
  /** An item that the tables answered. */
  fromPlain(item: unknown): unknown
}

/** DynamoDB's own form: `{ "id": { "S": "a" } }`. */
export const WIRE: ItemCodec = {
  readItem: readWireItem,
  readValue: (input) => readWireValue(input),
  plainItem: (input) => plainItem(readWireItem(input)),
  plainValue: (input) => plainValue(readWireValue(input)),
  fromPlain: readPlainItem,
}

/** The product's form, which its tables read themselves: `{ "id": "a" }`. */
export const PLAIN: ItemCodec = {
  readItem: readPlainItem,
  readValue: (input) => readPlainValue(input),
  plainItem: (input) => input as PlainItem,
  plainValue: (input) => input,
  fromPlain: (item) => item,
}
