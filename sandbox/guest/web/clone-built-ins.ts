import { DOMException } from './dom-exception.ts'
import {
  dataViewBuffer,
  dataViewLength,
  dataViewOffset,
  dateTime,
  defineProperty,
  forEach,
  getOwnPropertyDescriptor,
  hasOwn,
  isDetached,
  isPrototypeOf,
  mapForEach,
  mapSet,
  mapSize,
  patternFlags,
  patternSource,
  push,
  reflectGet,
  setAdd,
  setForEach,
  setSize,
  slice,
  sliceBuffer,
  toTag,
  unboxBigInt,
  unboxBoolean,
  unboxNumber,
  unboxString,
  unboxSymbol,
  viewBuffer,
  viewLength,
  viewOffset,
  viewTag,
} from './primordials.ts'

/** Clones a value that a copy holds, with what is cloned so far. */
export type CloneInto = (value: unknown) => unknown

/** A copy that is remembered before what it holds is cloned into it. */
export interface Begun {
  readonly copy: object
  readonly fill?: (clone: CloneInto) => void
}

/** Begins the copy of an object with internal slots; throws for one that has only the tag. */
type Begin = (value: object, clone: CloneInto) => Begun

const ERRORS = builtIns<ErrorConstructor>(
  'EvalError RangeError ReferenceError SyntaxError TypeError URIError',
)
const VIEWS = builtIns<new (buffer: ArrayBuffer, at: number, length: number) => object>(
  'BigInt64Array BigUint64Array Float32Array Float64Array Int16Array Int32Array Int8Array ' +
    'Uint16Array Uint32Array Uint8Array Uint8ClampedArray',
)
const ErrorPrototype = Error.prototype
const MapClass = Map
const SetClass = Set
const DateClass = Date
const RegExpClass = RegExp
const DataViewClass = DataView
const ErrorClass = Error
const ObjectFunction = Object

const BUILT_INS: Readonly<Record<string, Begin>> = {
  Boolean: (value) => ({ copy: ObjectFunction(unboxBoolean(value)) as object }),
  Number: (value) => ({ copy: ObjectFunction(unboxNumber(value)) as object }),
  String: (value) => ({ copy: ObjectFunction(unboxString(value)) as object }),
  BigInt: (value) => ({ copy: ObjectFunction(unboxBigInt(value)) as object }),
  Symbol: (value) => {
    throw new DOMException(
      `${ObjectFunction(unboxSymbol(value)) && '#<Symbol>'} could not be cloned.`,
      'DataCloneError',
    )
  },
  Date: (value) => ({ copy: new DateClass(dateTime(value as Date)) }),
  RegExp: (value) => ({ copy: new RegExpClass(patternSource(value), patternFlags(value)) }),
  ArrayBuffer: (value) => ({ copy: cloneBuffer(value as ArrayBuffer) }),
  DataView: (value, clone) => {
    const buffer = clone(dataViewBuffer(value)) as ArrayBuffer
    return { copy: new DataViewClass(buffer, dataViewOffset(value), dataViewLength(value)) }
  },
  Map: beginMap,
  Set: beginSet,
  Error: beginError,
}

/** A copy of what has internal slots of the language; undefined for anything else. */
export function beginBuiltIn(value: object, clone: CloneInto): Begun | undefined {
  const view = viewTag(value)
  if (view !== undefined) return beginView(value, view, clone)
  const tag = slice(toTag(value), 8, -1)
  if (tag === 'Object' && !(Symbol.toStringTag in value)) return undefined
  if (hasOwn(BUILT_INS, tag)) {
    const begun = attempt(BUILT_INS[tag] as Begin, value, clone)
    if (begun !== undefined) return begun
  }
  return reflectGet(value, Symbol.toStringTag) === undefined ? undefined : beginHidden(value, clone)
}

const NAMES = Object.keys(BUILT_INS)

/** What has slots under a tag that its class made up. */
function beginHidden(value: object, clone: CloneInto): Begun | undefined {
  let begun: Begun | undefined
  forEach(NAMES, (name) => {
    begun ??= attempt(BUILT_INS[name] as Begin, value, clone)
  })
  return begun
}

/** Undefined when the value has no such slots; what is wrong with the clone itself is thrown. */
function attempt(begin: Begin, value: object, clone: CloneInto): Begun | undefined {
  try {
    return begin(value, clone)
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

function cloneBuffer(buffer: ArrayBuffer): ArrayBuffer {
  if (isDetached(buffer))
    throw new DOMException('An ArrayBuffer is detached and could not be cloned.', 'DataCloneError')
  return sliceBuffer(buffer, 0)
}

function beginView(view: object, tag: string, clone: CloneInto): Begun {
  const View = hasOwn(VIEWS, tag) ? VIEWS[tag] : reflectGet(globalThis, tag)
  const buffer = clone(viewBuffer(view)) as ArrayBuffer
  const Class = View as new (buffer: ArrayBuffer, at: number, length: number) => object
  return { copy: new Class(buffer, viewOffset(view), viewLength(view)) }
}

function beginMap(value: object): Begun {
  mapSize(value)
  const copy = new MapClass<unknown, unknown>()
  const keys: unknown[] = []
  const items: unknown[] = []
  mapForEach(value, (item, key) => {
    push(keys, key)
    push(items, item)
  })
  const fill = (clone: CloneInto) =>
    forEach(keys, (key, index) => mapSet(copy, clone(key), clone(items[index])))
  return { copy, fill }
}

function beginSet(value: object): Begun {
  setSize(value)
  const copy = new SetClass<unknown>()
  const items: unknown[] = []
  setForEach(value, (item) => push(items, item))
  return { copy, fill: (clone) => forEach(items, (item) => setAdd(copy, clone(item))) }
}

function beginError(value: object): Begun {
  if (!isPrototypeOf(ErrorPrototype, value) && slice(toTag(value), 8, -1) !== 'Error')
    throw new TypeError('Not an error')
  const given: unknown = reflectGet(value, 'name')
  const name = given === undefined ? 'Error' : `${given as string}`
  const copy = new ((hasOwn(ERRORS, name) ? ERRORS[name] : undefined) ?? ErrorClass)()
  const hide = (key: string, item: unknown): void => {
    defineProperty(copy, key, { value: item, writable: true, configurable: true })
  }
  const message = getOwnPropertyDescriptor(value, 'message')
  if (message !== undefined && hasOwn(message, 'value'))
    hide('message', `${message.value as string}`)
  const stack: unknown = reflectGet(value, 'stack')
  hide('stack', typeof stack === 'string' ? stack : undefined)
  const fill = (clone: CloneInto) => {
    const cause = getOwnPropertyDescriptor(value, 'cause')
    if (cause !== undefined) hide('cause', clone(reflectGet(value, 'cause')))
  }
  return { copy, fill }
}

/** Classes by their names, as they are when this script loads. */
function builtIns<Class>(names: string): Readonly<Record<string, Class>> {
  return Object.fromEntries(names.split(' ').map((name) => [name, Reflect.get(globalThis, name)]))
}
