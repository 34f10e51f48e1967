import { Buffer } from 'node:buffer'
import { hash } from 'node:crypto'

import { byteaList } from '#platform/postgres/array-types.ts'
import {
  attributeOf,
  type AttributeValue,
  type Item,
} from '#runtime/tables/items/attribute-value.ts'
import type { KeyAttribute, KeySchema } from '#runtime/tables/items/key-schema.ts'

import { keyBytes } from './key-bytes.ts'

/** So many that two partition keys with the same cannot be found. */
const HASH_BYTES = 20
const NO_SORT_KEY = Buffer.alloc(0)

/** The place of an item in its table, or of an entry in its index. */
export interface ItemKey {
  /** The hash of the partition key. */
  readonly hash: Buffer
  /** The bytes of the sort key; none in a table without one. */
  readonly sort: Buffer
}

/** The key of an item that has been checked to have one of the right types. */
export function itemKeyOf(item: Item, schema: KeySchema): ItemKey {
  return {
    hash: partitionHash(valueOf(item, schema.partitionKey)),
    sort: schema.sortKey === undefined ? NO_SORT_KEY : keyBytes(valueOf(item, schema.sortKey)),
  }
}

/** The two parts of several keys, as arrays for a statement. */
export const keyLists = (keyed: readonly { readonly key: ItemKey }[]) => ({
  hashes: byteaList(keyed.map(({ key }) => key.hash)),
  sorts: byteaList(keyed.map(({ key }) => key.sort)),
})

/** For maps in memory. */
export const textOfKey = ({ hash, sort }: ItemKey): string =>
  `${hash.toString('hex')} ${sort.toString('hex')}`

/** As Postgres orders them. */
export const compareItemKeys = (one: ItemKey, other: ItemKey): number =>
  Buffer.compare(one.hash, other.hash) || Buffer.compare(one.sort, other.sort)

export const partitionHash = (value: AttributeValue): Buffer =>
  hash('sha256', keyBytes(value), 'buffer').subarray(0, HASH_BYTES)

function valueOf(item: Item, { name }: KeyAttribute): AttributeValue {
  const value = attributeOf(item, name)
  if (value === undefined) throw new TypeError(`The key attribute "${name}" is missing`)
  return value
}
