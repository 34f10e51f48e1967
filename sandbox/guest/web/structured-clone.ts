import { blobOf, blobBytes, File, isBlob, isFile } from './blob.ts'
import { DOMException, isDOMException } from './dom-exception.ts'
import {
  dateTime,
  hasOwn,
  isArray,
  isView,
  mapForEach,
  mapSize,
  objectKeys,
  setForEach,
  setSize,
  slice,
  sliceBuffer,
  toTag,
  unboxBigInt,
  unboxBoolean,
  unboxNumber,
  unboxString,
} from './primordials.ts'
import { dictionary, isWebIdlObject, requireArguments } from './webidl.ts'

/** What is cloned so far: sameness and cycles survive. */
type Memory = Map<object, unknown>
type Cloner = (value: object, memory: Memory) => unknown

const ERRORS: Readonly<Record<string, ErrorConstructor>> = {
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
}
const VIEWS: Readonly<
  Record<string, new (buffer: ArrayBuffer, at: number, length: number) => object>
> = {
  BigInt64Array,
  BigUint64Array,
  DataView,
  Float32Array,
  Float64Array,
  Int16Array,
  Int32Array,
  Int8Array,
  Uint16Array,
  Uint32Array,
  Uint8Array,
  Uint8ClampedArray,
}

/** By the tag of the built-in; a tag that site code made up fails in the cloner's own brand check. */
const CLONERS: Readonly<Record<string, Cloner>> = {
  Boolean: (value) => Object(unboxBoolean(value)),
  Number: (value) => Object(unboxNumber(value)),
  String: (value) => Object(unboxString(value)),
  BigInt: (value) => Object(unboxBigInt(value)),
  Date: (value) => new Date(dateTime(value as Date)),
  RegExp: (value) => clonePattern(value as RegExp),
  ArrayBuffer: (value) => sliceBuffer(value as ArrayBuffer, 0),
  Map: cloneMap,
  Set: cloneSet,
  Error: cloneError,
}
const NOT_CLONEABLE = new Set([
  'Function',
  'Promise',
  'WeakMap',
  'WeakRef',
  'WeakSet',
  'FinalizationRegistry',
  'Symbol',
  'Generator',
  'AsyncGenerator',
])

/** https://html.spec.whatwg.org/#dom-structuredclone; only an ArrayBuffer can be transferred. */
export function structuredClone<Value>(value: Value, options?: unknown): Value {
  requireArguments(arguments.length, 1, "Failed to execute 'structuredClone'")
  const buffers = transferList(
    dictionary(options, "Failed to execute 'structuredClone'")['transfer'],
  )
  const copy = clone(value, new Map())
  for (const buffer of buffers) buffer.transfer()
  return copy as Value
}

function clone(value: unknown, memory: Memory): unknown {
  if (typeof value === 'symbol' || typeof value === 'function') throw notCloneable(value)
  if (!isWebIdlObject(value)) return value
  if (memory.has(value)) return memory.get(value)
  if (isView(value)) return cloneView(value, memory)
  const tag = slice(toTag(value), 8, -1)
  if (NOT_CLONEABLE.has(tag)) throw notCloneable(value)
  const copy = clonePlatformObject(value) ?? cloneBuiltIn(tag, value, memory)
  if (copy === undefined) return cloneProperties(value, memory)
  memory.set(value, copy)
  return copy
}

function clonePlatformObject(value: object): object | undefined {
  if (isDOMException(value)) return new DOMException(value.message, value.name)
  if (isFile(value)) {
    const { lastModified, name, type } = value
    return new File([blobOf(blobBytes(value), '')], name, { type, lastModified })
  }
  return isBlob(value) ? blobOf(blobBytes(value), value.type) : undefined
}

function cloneBuiltIn(tag: string, value: object, memory: Memory): unknown {
  const cloner = hasOwn(CLONERS, tag) ? CLONERS[tag] : undefined
  if (cloner === undefined) return undefined
  if (tag in BRANDS && !hasBrand(tag, value)) return undefined
  return cloner(value, memory)
}

function cloneProperties(value: object, memory: Memory): object {
  const copy: object = isArray(value) ? Array.from({ length: 0 }) : {}
  if (isArray(value)) Reflect.set(copy, 'length', value.length)
  memory.set(value, copy)
  for (const key of objectKeys(value))
    Object.defineProperty(copy, key, {
      value: clone(Reflect.get(value, key), memory),
      writable: true,
      enumerable: true,
      configurable: true,
    })
  return copy
}

function cloneView(view: ArrayBufferView, memory: Memory): unknown {
  const tag = slice(toTag(view), 8, -1)
  const View = VIEWS[tag] ?? Uint8Array
  const buffer = clone(view.buffer, memory) as ArrayBuffer
  const length: unknown = Reflect.get(view, 'length')
  const copy = new View(
    buffer,
    view.byteOffset,
    typeof length === 'number' ? length : view.byteLength,
  )
  memory.set(view, copy)
  return copy
}

function clonePattern(pattern: RegExp): RegExp {
  return new RegExp(pattern.source, pattern.flags)
}

function cloneMap(value: object, memory: Memory): Map<unknown, unknown> {
  const copy = new Map<unknown, unknown>()
  memory.set(value, copy)
  const entries: [unknown, unknown][] = []
  mapForEach(value, (item, key) => entries.push([key, item]))
  for (const [key, item] of entries) copy.set(clone(key, memory), clone(item, memory))
  return copy
}

function cloneSet(value: object, memory: Memory): Set<unknown> {
  const copy = new Set<unknown>()
  memory.set(value, copy)
  const items: unknown[] = []
  setForEach(value, (item) => items.push(item))
  for (const item of items) copy.add(clone(item, memory))
  return copy
}

function cloneError(value: object, memory: Memory): Error {
  const { name } = value as Error
  const Constructor = ERRORS[`${name}`] ?? Error
  const copy = new Constructor()
  memory.set(value, copy)
  for (const key of ['message', 'stack', 'cause'] as const) {
    const descriptor = Object.getOwnPropertyDescriptor(value, key)
    if (descriptor === undefined) continue
    const item: unknown = key === 'stack' ? Reflect.get(value, key) : descriptor.value
    Object.defineProperty(copy, key, {
      value: key === 'cause' ? clone(item, memory) : `${item as string}`,
      writable: true,
      configurable: true,
    })
  }
  return copy
}

const BRANDS: Readonly<Record<string, (value: object) => unknown>> = {
  Boolean: (value) => unboxBoolean(value),
  Number: (value) => unboxNumber(value),
  String: (value) => unboxString(value),
  BigInt: (value) => unboxBigInt(value),
  Date: (value) => dateTime(value as Date),
  ArrayBuffer: (value) => sliceBuffer(value as ArrayBuffer, 0, 0),
  Map: mapSize,
  Set: setSize,
}

function hasBrand(tag: string, value: object): boolean {
  try {
    BRANDS[tag]?.(value)
    return true
  } catch {
    return false
  }
}

function transferList(transfer: unknown): readonly ArrayBuffer[] {
  if (transfer === undefined) return []
  const list = [...(transfer as Iterable<unknown>)]
  const seen = new Set<unknown>()
  return list.map((item) => {
    if (!(item instanceof ArrayBuffer) || item.detached || seen.has(item))
      throw new DOMException('Value not transferable', 'DataCloneError')
    seen.add(item)
    return item
  })
}

function notCloneable(value: unknown): DOMException {
  const text = isWebIdlObject(value) ? toTag(value) : String(value)
  return new DOMException(`${text} could not be cloned.`, 'DataCloneError')
}
