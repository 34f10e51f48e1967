// oxlint-disable typescript/unbound-method -- taking methods off their prototypes is what this file is for
/**
 * Built-ins as they were before site code ran. What fetch, console and the clocks need is taken from here, so that a
 * site that replaces a built-in breaks its own code and not the platform's. The call runtime is stricter: it looks no
 * method up on a value, and does not spread, destructure an array or assign to a property that is not there yet, because
 * site code can hook all of these.
 */
const { bind, call } = Function.prototype

/** A method as a function of its receiver: `uncurry(String.prototype.slice)(text, 1)`. */
export const uncurry: <This, Args extends unknown[], Result>(
  method: (this: This, ...args: Args) => Result,
) => (self: This, ...args: Args) => Result = bind.bind(call)

export const { apply, deleteProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect
export const { get: reflectGet, setPrototypeOf } = Reflect
export const { create, defineProperty, freeze, is: objectIs, keys: objectKeys } = Object
export const { captureStackTrace } = Error
export const { isArray } = Array
export const { isView } = ArrayBuffer
export const { fromCharCode } = String
export const { ceil, floor, max, min, trunc } = Math
export const { isFinite, isInteger } = Number
export const { now: dateNow } = Date
export const PromiseClass = Promise
export const ErrorClass = Error
export const TypeErrorClass = TypeError
export const ProxyClass = Proxy
/** @public The bundler names it, for the parts. */
export const RegExpClass = RegExp
export const SetClass = Set
export const Uint8ArrayClass = Uint8Array
export const toText = String
export const jsonParse: (text: string) => unknown = JSON.parse
/** Undefined for what JSON has no text for: a function, a symbol, undefined. */
export const jsonStringify: (value: unknown) => string | undefined = JSON.stringify
/** A text as a JSON string. */
export const jsonQuote = (text: string): string => jsonStringify(text) as string
export const jsonStringifyWith: (
  value: unknown,
  replace: (name: string, value: unknown) => unknown,
) => string | undefined = JSON.stringify

export const charAt = uncurry(String.prototype.charAt)
export const charCodeAt = uncurry(String.prototype.charCodeAt)
export const codePointAt = uncurry(String.prototype.codePointAt)
export const endsWith = uncurry(String.prototype.endsWith)
export const indexOf = uncurry(String.prototype.indexOf)
export const padEnd = uncurry(String.prototype.padEnd)
export const padStart = uncurry(String.prototype.padStart)
export const repeat = uncurry(String.prototype.repeat)
export const slice = uncurry(String.prototype.slice)
export const split = uncurry(
  String.prototype.split as (this: string, separator: string) => string[],
)
export const startsWith = uncurry(String.prototype.startsWith)
export const toLowerCase = uncurry(String.prototype.toLowerCase)
export const toUpperCase = uncurry(String.prototype.toUpperCase)
export const toWellFormed = uncurry(String.prototype.toWellFormed)
export const normalizeText = uncurry(String.prototype.normalize as (this: string) => string)

export const dateTime = uncurry(Date.prototype.getTime)
export const dateToIso = uncurry(Date.prototype.toISOString)
export const patternText = uncurry(RegExp.prototype.toString)
export const numberText = uncurry(Number.prototype.toString)
export const symbolText = uncurry(Symbol.prototype.toString)
export const symbolDescription = uncurry(
  Object.getOwnPropertyDescriptor(Symbol.prototype, 'description')?.get as (
    this: symbol,
  ) => string | undefined,
)
export const sliceBuffer = uncurry(ArrayBuffer.prototype.slice)
export const unboxBigInt = uncurry(BigInt.prototype.valueOf)
export const unboxBoolean = uncurry(Boolean.prototype.valueOf)
export const unboxNumber = uncurry(Number.prototype.valueOf)
export const unboxString = uncurry(String.prototype.valueOf)
export const unboxSymbol = uncurry(Symbol.prototype.valueOf)
export const mapGet = uncurry(Map.prototype.get) as (map: object, key: unknown) => unknown
export const mapSet = uncurry(Map.prototype.set)
export const mapDelete = uncurry(Map.prototype.delete)
export const mapForEach = uncurry(Map.prototype.forEach) as (
  map: object,
  visit: (item: unknown, key: unknown) => void,
) => void
export const setForEach = uncurry(Set.prototype.forEach) as (
  set: object,
  visit: (item: unknown) => void,
) => void
export const mapHas = uncurry(Map.prototype.has) as (map: object, key: unknown) => boolean
export const setAdd = uncurry(Set.prototype.add) as (set: object, item: unknown) => void
export const setHas = uncurry(Set.prototype.has) as (set: object, item: unknown) => boolean
export const mapSize = getter(Map.prototype, 'size')
export const setSize = getter(Set.prototype, 'size')
export const isDetached = getter(ArrayBuffer.prototype, 'detached') as unknown as (
  buffer: object,
) => boolean
/** Its content in a buffer of its own; the one that it was in has none any more. */
export const transferBuffer = uncurry(
  (ArrayBuffer.prototype as unknown as { transfer(): ArrayBuffer }).transfer,
) as (buffer: ArrayBuffer) => ArrayBuffer
export const viewBuffer = getter(
  getPrototypeOf(Uint8Array.prototype) as object,
  'buffer',
) as unknown as (view: object) => ArrayBuffer
export const viewTag = getter(
  getPrototypeOf(Uint8Array.prototype) as object,
  Symbol.toStringTag,
) as unknown as (view: object) => string | undefined
export const viewOffset = getter(getPrototypeOf(Uint8Array.prototype) as object, 'byteOffset')
export const viewLength = getter(getPrototypeOf(Uint8Array.prototype) as object, 'length')
export const dataViewBuffer = getter(DataView.prototype, 'buffer') as unknown as (
  view: object,
) => ArrayBuffer
export const dataViewOffset = getter(DataView.prototype, 'byteOffset')
export const dataViewLength = getter(DataView.prototype, 'byteLength')
export const patternSource = getter(RegExp.prototype, 'source') as unknown as (
  pattern: object,
) => string
export const patternFlags = getter(RegExp.prototype, 'flags') as unknown as (
  pattern: object,
) => string
export const weakMapHas = uncurry(WeakMap.prototype.has) as (map: object, key: object) => boolean
export const weakSetHas = uncurry(WeakSet.prototype.has) as (set: object, key: object) => boolean
export const bufferLength = getter(ArrayBuffer.prototype, 'byteLength')

export const setBytes = uncurry(Uint8Array.prototype.set) as (
  target: Uint8Array,
  source: Uint8Array,
  offset?: number,
) => void
export const sliceBytes = uncurry(Uint8Array.prototype.slice) as (
  bytes: Uint8Array<ArrayBuffer>,
  start: number,
  end: number,
) => Uint8Array<ArrayBuffer>
export const subarray = uncurry(Uint8Array.prototype.subarray) as <View extends ArrayBufferView>(
  view: View,
  start: number,
  end?: number,
) => View

export const errorText = uncurry(Error.prototype.toString) as (error: unknown) => string
export const toTag = uncurry(Object.prototype.toString)
export const functionSource = uncurry(Function.prototype.toString)
export const hasOwn: (target: object, key: PropertyKey) => boolean = Object.hasOwn

export const join: (list: readonly unknown[], separator: string) => string = uncurry(
  Array.prototype.join,
)

export const sortTexts = uncurry(Array.prototype.sort) as (
  list: string[],
  compare?: (a: string, b: string) => number,
) => string[]

const exec = uncurry(RegExp.prototype.exec)

/** The match of a pattern that has neither `g` nor `y`. */
export const execPattern = (pattern: RegExp, text: string): RegExpExecArray | null =>
  exec(pattern, text)

/** Whether the pattern, which has neither `g` nor `y`, matches. */
export const testPattern = (pattern: RegExp, text: string): boolean => exec(pattern, text) !== null

/** `list.push(item)` without the site's `Array.prototype`. */
export function push<Item>(list: Item[], item: Item): void {
  defineProperty(list, list.length, {
    value: item,
    writable: true,
    enumerable: true,
    configurable: true,
  })
}

export const findIndex = uncurry(Array.prototype.findIndex) as <Item>(
  list: readonly Item[],
  matches: (item: Item) => boolean,
) => number
export const forEach = uncurry(Array.prototype.forEach) as <Item>(
  list: readonly Item[],
  visit: (item: Item, index: number) => void,
) => void

export const toSorted = uncurry(Array.prototype.toSorted) as <Item>(
  list: readonly Item[],
  compare: (one: Item, other: Item) => number,
) => Item[]

/** A copy, whatever `constructor` and setters of indices the site's `Array.prototype` has. */
const copyList = uncurry(Array.prototype.toSpliced) as (list: readonly unknown[]) => unknown[]

export function map<Item, Result>(
  list: readonly Item[],
  change: (item: Item, index: number) => Result,
): Result[] {
  const copy = copyList(list)
  for (let index = 0; index < copy.length; index++) copy[index] = change(copy[index] as Item, index)
  return copy as Result[]
}

export function filter<Item>(
  list: readonly Item[],
  keep: (item: Item, index: number) => boolean,
): Item[] {
  const copy = copyList(list) as Item[]
  let count = 0
  forEach(list, (item, index) => {
    if (keep(item, index)) copy[count++] = item
  })
  copy.length = count
  return copy
}

function getter(proto: object, name: PropertyKey): (value: object) => number {
  return uncurry(Object.getOwnPropertyDescriptor(proto, name)?.get as (this: object) => number)
}

export const isPrototypeOf = uncurry(Object.prototype.isPrototypeOf)
const promisePrototype = Promise.prototype

export const isPromise = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && isPrototypeOf(promisePrototype, value)
