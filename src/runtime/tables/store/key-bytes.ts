import { Buffer } from 'node:buffer'

import { Big } from 'big.js'

import type { AttributeValue } from '#runtime/tables/items/attribute-value.ts'
import { base64ToBytes } from '#runtime/tables/items/base64.ts'

const NEGATIVE = 1
const ZERO = 2
const POSITIVE = 3
/** The smallest magnitude of a number is 10^-130. */
const MAGNITUDE_OFFSET = 130
/** After the digits of a negative number, so that fewer digits come after more. */
const AFTER_DIGITS = 0xff
const LONE_LOW_SURROGATE = 0xf5

/** Bytes that are ordered as DynamoDB orders the strings, numbers or binaries of one type, and are equal only of equals. */
export function keyBytes(value: AttributeValue): Buffer {
  if ('S' in value) return stringBytes(value.S)
  if ('N' in value) return numberBytes(value.N)
  if ('B' in value) return base64ToBytes(value.B)
  throw new TypeError('A key is a string, a number or a binary')
}

/** UTF-8. Half a surrogate pair, which has none, comes where `compareValues` puts it. */
function stringBytes(text: string): Buffer {
  if (text.isWellFormed()) return Buffer.from(text, 'utf8')
  return Buffer.concat(Array.from(text, characterBytes))
}

function characterBytes(character: string): Buffer {
  if (character.isWellFormed()) return Buffer.from(character, 'utf8')
  const unit = character.charCodeAt(0)
  if (unit >= 0xdc00) return Buffer.from([LONE_LOW_SURROGATE, (unit >> 8) & 3, unit & 0xff])
  // Right before the first of the pairs that begin with it.
  const pair = Buffer.from(`${character}\udc00`, 'utf8')
  return Buffer.from([...pair.subarray(0, 3), 0])
}

/** A byte for the sign, one for the power of ten, and two digits in each of the others. */
function numberBytes(canonical: string): Buffer {
  const { s: sign, e: power, c: digits } = new Big(canonical)
  if (digits[0] === 0) return Buffer.from([ZERO])
  const pairs: number[] = []
  for (let at = 0; at < digits.length; at += 2) {
    pairs.push((digits[at] ?? 0) * 10 + (digits[at + 1] ?? 0))
  }
  const magnitude = power + MAGNITUDE_OFFSET
  if (sign > 0) return Buffer.from([POSITIVE, magnitude, ...pairs])
  return Buffer.from([NEGATIVE, 0xff - magnitude, ...pairs.map((pair) => 100 - pair), AFTER_DIGITS])
}
