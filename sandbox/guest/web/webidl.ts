import { apply, charCodeAt, isView, push, reflectGet, toWellFormed } from './primordials.ts'

/** A method, a header name or an unquoted parameter: https://httpwg.org/specs/rfc9110.html#tokens */
export const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

export const usvString = (value: unknown): string => toWellFormed(`${value as string}`)

/** One char per byte, or a TypeError as WebIDL's ByteString conversion gives. */
export function byteString(value: unknown): string {
  const text = `${value as string}`
  for (let index = 0; index < text.length; index++)
    if (charCodeAt(text, index) > 255)
      throw new TypeError(
        `Cannot convert argument to a ByteString because the character at index ${index} has a value of ${charCodeAt(text, index)} which is greater than 255.`,
      )
  return text
}

export function requireArguments(count: number, required: number, where: string): void {
  if (count < required)
    throw new TypeError(
      `${where}: ${required} argument${required === 1 ? '' : 's'} required, but only ${count} present`,
    )
}

export const isWebIdlObject = (value: unknown): value is object =>
  (typeof value === 'object' && value !== null) || typeof value === 'function'

/** The bytes that a BufferSource shows; undefined for anything else. */
export function shownBytes(value: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (value instanceof ArrayBuffer) return new Uint8Array(value)
  if (!isView(value)) return undefined
  return new Uint8Array(value.buffer as ArrayBuffer, value.byteOffset, value.byteLength)
}

/** A WebIDL dictionary: absent and null are empty, anything else must be an object. */
export function dictionary(value: unknown, where: string): Readonly<Record<string, unknown>> {
  if (value === undefined || value === null) return EMPTY
  if (!isWebIdlObject(value)) throw new TypeError(`${where}: the value is not an object.`)
  return value as Readonly<Record<string, unknown>>
}

const EMPTY: Readonly<Record<string, unknown>> = Object.freeze(Object.create(null))

const MAX_SEQUENCE = 1_000_000

/** A WebIDL sequence: what the value's iterator gives, read without the site's array iterator. */
export function sequence(value: unknown, where: string): unknown[] {
  const iterate: unknown = isWebIdlObject(value) ? reflectGet(value, Symbol.iterator) : undefined
  if (typeof iterate !== 'function')
    throw new TypeError(`${where}: the value can not be converted to a sequence.`)
  const iterator: unknown = apply(iterate, value, [])
  if (!isWebIdlObject(iterator)) throw new TypeError(`${where}: the iterator is not an object.`)
  const next = reflectGet(iterator, 'next') as Function
  const items: unknown[] = []
  for (;;) {
    const step: unknown = apply(next, iterator, [])
    if (!isWebIdlObject(step)) throw new TypeError(`${where}: the iterator gave no object.`)
    if (reflectGet(step, 'done')) return items
    if (items.length >= MAX_SEQUENCE) throw new RangeError(`${where}: the sequence is too long.`)
    push(items, reflectGet(step, 'value'))
  }
}
