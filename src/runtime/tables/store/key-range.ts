import { Buffer } from 'node:buffer'

import type { KeyTerm } from '#runtime/tables/expressions/key-condition.ts'

import { compareItemKeys, type ItemKey } from './item-key.ts'
import { keyBytes } from './key-bytes.ts'

/** A place among the keys of a table, or with `item` among those of an index, where it distinguishes equal keys. */
export interface Bound extends ItemKey {
  readonly item?: ItemKey
}

/** What lies from one place to right before another. */
export interface StoredRange {
  readonly from: Bound
  readonly to: Bound
}

const NOTHING = Buffer.alloc(0)
/** After every hash. */
const END: Bound = { hash: Buffer.alloc(21, 0xff), sort: NOTHING }
const HASH_SPACE = 1n << 64n

/** The part of one partition that a key condition names. */
export function partitionRange(hash: Buffer, sort: KeyTerm | undefined): StoredRange {
  const whole = { from: { hash, sort: NOTHING }, to: { hash: next(hash), sort: NOTHING } }
  if (sort === undefined) return whole
  const [lower, upper] = sortBounds(sort)
  return {
    from: lower === undefined ? whole.from : { hash, sort: lower },
    to: upper === undefined ? whole.to : { hash, sort: upper },
  }
}

/** One of `total` parts of a table, by the hashes of partition keys. */
export function segmentRange(segment: number, total: number): StoredRange {
  return { from: segmentStart(segment, total), to: segmentStart(segment + 1, total) }
}

/** The rest of a range after a key, or before it when it is read backwards. */
export function restOf(range: StoredRange, start: Bound, forward: boolean): StoredRange {
  return forward ? { ...range, from: after(start) } : { ...range, to: start }
}

export function isWithin({ from, to }: StoredRange, key: ItemKey): boolean {
  return compareItemKeys(from, key) <= 0 && compareItemKeys(key, to) < 0
}

function segmentStart(segment: number, total: number): Bound {
  if (segment === total) return END
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE((HASH_SPACE * BigInt(segment)) / BigInt(total))
  return { hash: bytes, sort: NOTHING }
}

/** The first sort key of a range and the first one after it, where there is one. */
function sortBounds({
  operator,
  values,
}: KeyTerm): readonly [Buffer | undefined, Buffer | undefined] {
  const [value = NOTHING, upper = value] = values.map(keyBytes)
  switch (operator) {
    case 'BETWEEN':
      return [value, next(upper)]
    case 'begins_with':
      return [value, afterPrefix(value)]
    case '=':
      return [value, next(value)]
    case '<':
      return [undefined, value]
    case '<=':
      return [undefined, next(value)]
    case '>':
      return [next(value), undefined]
    case '>=':
      return [value, undefined]
    default:
      return operator satisfies never
  }
}

const after = ({ hash, sort, item }: Bound): Bound =>
  item === undefined
    ? { hash, sort: next(sort) }
    : { hash, sort, item: { hash: item.hash, sort: next(item.sort) } }

/** The first bytes that come after these. */
const next = (bytes: Buffer): Buffer => Buffer.concat([bytes, Buffer.from([0])])

/** The first bytes after all that begin with these; undefined when there are none. */
function afterPrefix(prefix: Buffer): Buffer | undefined {
  const last = prefix.findLastIndex((byte) => byte < 0xff)
  if (last < 0) return undefined
  const bytes = Buffer.from(prefix.subarray(0, last + 1))
  bytes.writeUInt8(bytes.readUInt8(last) + 1, last)
  return bytes
}
