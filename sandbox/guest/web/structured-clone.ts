import { blobOf, blobBytes, File, isBlob, isFile } from './blob.ts'
import { DOMException, isDOMException } from './dom-exception.ts'
import {
  dateTime,
  hasOwn,
  isArray,
  isView,
  mapForEach,
  objectKeys,
  setForEach,
  slice,
  sliceBuffer,
  testPattern,
  toTag,
  unboxBigInt,
  unboxBoolean,
  unboxNumber,
  unboxString,
} from './primordials.ts'
import { dictionary, isWebIdlObject, requireArguments } from './webidl.ts'

/** What is cloned so far: sameness and cycles survive. */
type Memory = Map<object, unknown>

/** A copy that is remembered before what it holds is cloned into it. */
interface Begun {
  readonly copy: object
  readonly fill?: (memory: Memory) => void
}

type ViewConstructor = new (buffer: ArrayBuffer, at: number, length: number) => object

const ERRORS = builtIns<ErrorConstructor>(
  'EvalError RangeError ReferenceError SyntaxError TypeError URIError',
)
const VIEWS = builtIns<ViewConstructor>(
  'BigInt64Array BigUint64Array DataView Float32Array Float64Array Int16Array Int32Array Int8Array ' +
    'Uint16Array Uint32Array Uint8Array Uint8ClampedArray',
)
const NOT_CLONEABLE =
  /^(?:Function|Promise|WeakMap|WeakRef|WeakSet|FinalizationRegistry|Symbol|(?:Async)?Generator)$/

/** By the tag of the built-in; each throws when site code made the tag up. */
const BUILT_INS: Readonly<Record<string, (value: object) => Begun>> = {
  Boolean: (value) => ({ copy: Object(unboxBoolean(value)) as object }),
  Number: (value) => ({ copy: Object(unboxNumber(value)) as object }),
  String: (value) => ({ copy: Object(unboxString(value)) as object }),
  BigInt: (value) => ({ copy: Object(unboxBigInt(value)) as object }),
  Date: (value) => ({ copy: new Date(dateTime(value as Date)) }),
  RegExp: (value) => ({ copy: new RegExp((value as RegExp).source, (value as RegExp).flags) }),
  ArrayBuffer: (value) => ({ copy: sliceBuffer(value as ArrayBuffer, 0) }),
  Map: beginMap,
  Set: beginSet,
  Error: beginError,
}

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
  const { copy, fill } = begin(value)
  memory.set(value, copy)
  fill?.(memory)
  return copy
}

function begin(value: object): Begun {
  const tag = slice(toTag(value), 8, -1)
  if (testPattern(NOT_CLONEABLE, tag)) throw notCloneable(value)
  const copy = clonePlatformObject(value)
  if (copy !== undefined) return { copy }
  try {
    return (hasOwn(BUILT_INS, tag) ? BUILT_INS[tag]?.(value) : undefined) ?? beginPlain(value)
  } catch {
    return beginPlain(value)
  }
}

function clonePlatformObject(value: object): object | undefined {
  if (isDOMException(value)) return new DOMException(value.message, value.name)
  if (isFile(value)) {
    const { lastModified, name, type } = value
    return new File([blobOf(blobBytes(value), '')], name, { type, lastModified })
  }
  return isBlob(value) ? blobOf(blobBytes(value), value.type) : undefined
}

function beginPlain(value: object): Begun {
  const list: unknown[] = []
  if (isArray(value)) list.length = value.length
  const copy = isArray(value) ? list : {}
  const fill = (memory: Memory) => {
    for (const key of objectKeys(value))
      Object.defineProperty(copy, key, {
        value: clone(Reflect.get(value, key), memory),
        writable: true,
        enumerable: true,
        configurable: true,
      })
  }
  return { copy, fill }
}

function cloneView(view: ArrayBufferView, memory: Memory): unknown {
  const View = VIEWS[slice(toTag(view), 8, -1)] ?? Uint8Array
  const buffer = clone(view.buffer, memory) as ArrayBuffer
  const length: unknown = Reflect.get(view, 'length')
  const size = typeof length === 'number' ? length : view.byteLength
  const copy = new View(buffer, view.byteOffset, size)
  memory.set(view, copy)
  return copy
}

function beginMap(value: object): Begun {
  const copy = new Map<unknown, unknown>()
  const entries: [unknown, unknown][] = []
  mapForEach(value, (item, key) => entries.push([key, item]))
  const fill = (memory: Memory) => {
    for (const [key, item] of entries) copy.set(clone(key, memory), clone(item, memory))
  }
  return { copy, fill }
}

function beginSet(value: object): Begun {
  const copy = new Set<unknown>()
  const items: unknown[] = []
  setForEach(value, (item) => items.push(item))
  const fill = (memory: Memory) => {
    for (const item of items) copy.add(clone(item, memory))
  }
  return { copy, fill }
}

function beginError(value: object): Begun {
  const copy = new (ERRORS[`${(value as Error).name}`] ?? Error)()
  const fill = (memory: Memory) => {
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
  }
  return { copy, fill }
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

/** Classes by their names, as they are when this script loads. */
function builtIns<Class>(names: string): Readonly<Record<string, Class>> {
  return Object.fromEntries(names.split(' ').map((name) => [name, Reflect.get(globalThis, name)]))
}
