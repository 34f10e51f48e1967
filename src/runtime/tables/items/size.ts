import { Buffer } from 'node:buffer'

import { validationError } from '#runtime/tables/validation-error.ts'

import type { Attributes, AttributeValue, Item } from './attribute-value.ts'
import { decodedLength } from './base64.ts'

export const MAX_ITEM_BYTES = 409_600

/** Beyond the attributes themselves, what a list or map costs, and each of its elements. */
const CONTAINER_BYTES = 3
const ELEMENT_BYTES = 1
const ZERO = 0x30

/** Items are measured when they are checked and when they are stored. */
const MEASURED = new WeakMap<Item, number>()

/** Bytes of an item as DynamoDB counts them: names in UTF-8, and values. */
export function itemSize(item: Item): number {
  const known = MEASURED.get(item)
  if (known !== undefined) return known
  const size = attributesSize(item, 0)
  MEASURED.set(item, size)
  return size
}

/** Refuses an item that a put brings, or one that an update would leave. */
export function checkItemSize(item: Item, change: 'put' | 'update' = 'put'): void {
  if (itemSize(item) <= MAX_ITEM_BYTES) return
  const what = change === 'put' ? 'Item size' : 'Item size to update'
  throw validationError(`${what} has exceeded the maximum allowed size`)
}

export function attributeSize(value: AttributeValue): number {
  if ('S' in value) return textBytes(value.S)
  if ('N' in value) return numberSize(value.N)
  if ('B' in value) return decodedLength(value.B)
  if ('L' in value)
    return CONTAINER_BYTES + sum(value.L, (each) => attributeSize(each) + ELEMENT_BYTES)
  if ('M' in value) return CONTAINER_BYTES + attributesSize(value.M, ELEMENT_BYTES)
  if ('SS' in value) return sum(value.SS, textBytes)
  if ('NS' in value) return sum(value.NS, numberSize)
  if ('BS' in value) return sum(value.BS, decodedLength)
  return 1
}

/**
 * One byte, one for each two digits before the point, one for each two after it, one for a minus sign.
 * The guide says less; this is what the limit of 400 KiB measures.
 */
export function numberSize(canonical: string): number {
  if (canonical === '0') return 1
  const sign = canonical.startsWith('-') ? 1 : 0
  if (!canonical.includes('.')) return 1 + sign + Math.ceil(significant(canonical, sign) / 2)
  const [whole = '', fraction = ''] = canonical.slice(sign).split('.')
  const before = whole === '0' ? '' : whole
  const after = before === '' ? fraction.replace(/^0+/, '') : fraction
  return 1 + sign + Math.ceil(before.length / 2) + Math.ceil(after.length / 2)
}

/** Digits of a whole number, without the zeros at its end. */
function significant(whole: string, from: number): number {
  let end = whole.length
  while (whole.charCodeAt(end - 1) === ZERO) end -= 1
  return end - from
}

function attributesSize(attributes: Attributes, overhead: number): number {
  let total = 0
  for (const name of Object.keys(attributes)) {
    const value = attributes[name]
    if (value !== undefined) total += textBytes(name) + attributeSize(value) + overhead
  }
  return total
}

const textBytes = (text: string): number => Buffer.byteLength(text, 'utf8')

function sum<Each>(list: readonly Each[], measure: (each: Each) => number): number {
  let total = 0
  for (const each of list) total += measure(each)
  return total
}
