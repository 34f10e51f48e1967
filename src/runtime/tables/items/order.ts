import { Buffer } from 'node:buffer'

import type { AttributeValue } from './attribute-value.ts'
import { base64ToBytes } from './base64.ts'
import { compareNumberTexts } from './decimal.ts'

/** Orders two strings, numbers or binaries of one type; values of other types, or of two, have no order. */
export function compareValues(one: AttributeValue, other: AttributeValue): number | undefined {
  if ('N' in one && 'N' in other) return compareNumberTexts(one.N, other.N)
  if ('S' in one && 'S' in other) return compareStrings(one.S, other.S)
  if ('B' in one && 'B' in other)
    return Buffer.compare(base64ToBytes(one.B), base64ToBytes(other.B))
  return undefined
}

/** By UTF-8 bytes, which is not how JavaScript orders characters beyond the first 65,536. */
function compareStrings(one: string, other: string): number {
  if (one === other) return 0
  const at = firstDifference(one, other)
  const [left, right] = [one.charCodeAt(at), other.charCodeAt(at)]
  if (at >= one.length) return -1
  if (at >= other.length) return 1
  return byteRank(left) < byteRank(right) ? -1 : 1
}

function firstDifference(one: string, other: string): number {
  const length = Math.min(one.length, other.length)
  let at = 0
  while (at < length && one.charCodeAt(at) === other.charCodeAt(at)) at += 1
  return at
}

/** Surrogates stand for characters that come after all others. */
const byteRank = (unit: number): number =>
  unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
