import type { KeyUsage } from './crypto-key.ts'
import { DOMException } from './dom-exception.ts'
import {
  bufferLength,
  findIndex,
  isArray,
  isFinite,
  isView,
  push,
  setBytes,
  slice,
  toTag,
  trunc,
  TypeErrorClass,
  Uint8ArrayClass,
} from './primordials.ts'
import { isWebIdlObject } from './webidl.ts'

export type Bytes = Uint8Array<ArrayBuffer>

export type KeyFormat = 'jwk' | 'pkcs8' | 'raw' | 'spki'
const FORMATS: readonly KeyFormat[] = ['jwk', 'pkcs8', 'raw', 'spki']
/** In the order in which a key lists them. */
const USAGES: readonly KeyUsage[] = [
  'encrypt',
  'decrypt',
  'sign',
  'verify',
  'deriveKey',
  'deriveBits',
  'wrapKey',
  'unwrapKey',
]

export function has<Item>(list: readonly Item[], wanted: Item): boolean {
  return findIndex(list, (item) => item === wanted) >= 0
}

/** A copy of what a BufferSource shows: what a site changes later has no effect. */
export function copiedBytes(value: unknown, what: string): Bytes {
  const shown = shownBytes(value, what)
  const copy = new Uint8ArrayClass(shown.length)
  setBytes(copy, shown)
  return copy
}

function shownBytes(value: unknown, what: string): Uint8Array {
  if (isView(value)) {
    const { buffer, byteOffset, byteLength } = value
    return byteLength === 0
      ? new Uint8ArrayClass(0)
      : new Uint8ArrayClass(buffer as ArrayBuffer, byteOffset, byteLength)
  }
  if (!isArrayBuffer(value))
    throw new TypeErrorClass(`${what} must be an ArrayBuffer or a view on one.`)
  return value.detached ? new Uint8ArrayClass(0) : new Uint8ArrayClass(value)
}

/** Whatever says that it is one. */
function isBuffer(value: object): boolean {
  try {
    bufferLength(value)
    return true
  } catch {
    return false
  }
}

export const isBufferSource = (value: unknown): boolean => isView(value) || isArrayBuffer(value)

const isArrayBuffer = (value: unknown): value is ArrayBuffer =>
  isWebIdlObject(value) && toTag(value) === '[object ArrayBuffer]' && isBuffer(value)

export function keyFormat(value: unknown): KeyFormat {
  const text = `${value as string}`
  const at = findIndex(FORMATS, (format) => format === text)
  if (at < 0) throw new TypeErrorClass(`"${text}" is not a key format.`)
  return FORMATS[at] as KeyFormat
}

/** A sequence of usages, each once, in the order of the standard. */
export function keyUsages(value: unknown): readonly KeyUsage[] {
  if (!isWebIdlObject(value)) throw new TypeErrorClass('The key usages are not a sequence.')
  const given = textsOf(value)
  for (let at = 0; at < given.length; at += 1)
    if (!has<string>(USAGES, given[at] as string))
      throw new TypeErrorClass(`"${given[at] as string}" is not a key usage.`)
  return usagesAmong(given)
}

/** A sequence of texts; a list is read as it is, whatever its iterator has become. */
export function textsOf(value: object): readonly string[] {
  const texts: string[] = []
  if (isArray(value))
    for (let at = 0; at < value.length; at += 1) push(texts, `${value[at] as string}`)
  else for (const item of value as Iterable<unknown>) push(texts, `${item as string}`)
  return texts
}

function usagesAmong(given: readonly string[]): KeyUsage[] {
  const usages: KeyUsage[] = []
  for (let at = 0; at < USAGES.length; at += 1) {
    const usage = USAGES[at] as KeyUsage
    if (has<string>(given, usage)) push(usages, usage)
  }
  return usages
}

/** Those of `usages` that are also `allowed`. */
export function sharedUsages(
  usages: readonly KeyUsage[],
  allowed: readonly KeyUsage[],
): KeyUsage[] {
  const shared: KeyUsage[] = []
  for (let at = 0; at < usages.length; at += 1)
    if (has(allowed, usages[at] as KeyUsage)) push(shared, usages[at] as KeyUsage)
  return shared
}

/** WebIDL's conversion with [EnforceRange]. */
export function enforcedInteger(value: unknown, most: number, what: string): number {
  const number = +(value as number)
  const integer = trunc(number)
  if (!isFinite(number) || integer < 0 || integer > most)
    throw new TypeErrorClass(`${what} is outside the expected range of 0 to ${most}.`)
  return integer === 0 ? 0 : integer
}

export function bytesOfBigInteger(value: unknown, what: string): Bytes {
  if (!isView(value) || slice(toTag(value), 8, -1) !== 'Uint8Array')
    throw new TypeErrorClass(`${what} must be a Uint8Array.`)
  return copiedBytes(value, what)
}

export const failure = (name: string, message: string): DOMException =>
  new DOMException(message, name)
export const dataError = (message: string): DOMException => failure('DataError', message)
export const operationFailed = (message: string): DOMException => failure('OperationError', message)
export const invalidAccess = (message: string): DOMException =>
  failure('InvalidAccessError', message)
export const notSupported = (message: string): DOMException => failure('NotSupportedError', message)
export const badSyntax = (message: string): DOMException => failure('SyntaxError', message)
