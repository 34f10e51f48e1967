import { blobBytes, blobOf, File, isBlob, isFile } from './blob.ts'
import { beginBuiltIn } from './clone-built-ins.ts'
import type { Begun, CloneInto } from './clone-built-ins.ts'
import { createKey, materialOf } from './crypto-key.ts'
import { DOMException, isDOMException, setStack, stackOf } from './dom-exception.ts'
import { isPlatformObject } from './interface.ts'
import {
  apply,
  defineProperty,
  forEach,
  functionSource,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  hasOwn,
  isArray,
  isDetached,
  isPromise,
  mapGet,
  mapHas,
  mapSet,
  objectKeys,
  push,
  reflectGet,
  symbolText,
  transferBuffer,
} from './primordials.ts'
import { amountsOf, QuotaExceededError } from './quota-exceeded-error.ts'
import { isWebIdlObject, requireArguments, sequence } from './webidl.ts'

/** A way for objects of the platform to be cloned; undefined for what is not of its kind. */
type CloneObject = (value: object) => object | undefined

/** A way for objects of the platform to be transferred. */
export interface Transferable {
  /** What will be there instead of the object; undefined for what is not of its kind. Throws for what is spent. */
  begin(value: object): Transfer | undefined
}

export interface Transfer {
  readonly received: object
  /** Takes from the object what it was; when everything else is cloned. */
  commit(): void
}

/** What arrives: the value, and those that were transferred, in the order of the list. */
export interface Received {
  readonly value: unknown
  readonly transferred: readonly object[]
}

const cloneables: CloneObject[] = [cloneException, cloneBlob]
const transferables: Transferable[] = [{ begin: beginBufferTransfer }]

export function provideTransferable(transferable: Transferable): void {
  push(transferables, transferable)
}

/** https://html.spec.whatwg.org/#dom-structuredclone */
export function structuredClone<Value>(value: Value, options?: unknown): Value {
  const where = "Failed to execute 'structuredClone'"
  requireArguments(arguments.length, 1, where)
  return cloneAndTransfer(value, transferList(options, where)).value as Value
}

/** The `transfer` of an options dictionary. */
export function transferList(options: unknown, where: string): readonly unknown[] {
  if (options === undefined || options === null) return []
  if (!isWebIdlObject(options))
    throw new TypeError(`${where}: Argument 2 can not be converted to a dictionary`)
  const transfer: unknown = reflectGet(options, 'transfer')
  return transfer === undefined ? [] : sequence(transfer, where)
}

/** https://html.spec.whatwg.org/#structuredserializewithtransfer, and its counterpart at once: there is one realm. */
export function cloneAndTransfer(value: unknown, transfer: readonly unknown[]): Received {
  const memory = new MapClass<unknown, unknown>()
  const transfers: Transfer[] = []
  const transferred: object[] = []
  forEach(transfer, (item, index) => {
    const begun = mapHas(memory, item) ? undefined : beginTransfer(item, index)
    if (begun === undefined) throw new DOMException('Value not transferable', 'DataCloneError')
    push(transfers, begun)
    push(transferred, begun.received)
    mapSet(memory, item, begun.received)
  })
  const copy = clone(value, memory)
  forEach(transfers, (begun) => begun.commit())
  return { value: copy, transferred }
}

const MapClass = Map

function beginTransfer(item: unknown, index: number): Transfer | undefined {
  if (!isWebIdlObject(item)) return undefined
  if (isBuffer(item) && isDetached(item))
    throw new DOMException(`ArrayBuffer at index ${index} is already detached`, 'DataCloneError')
  let begun: Transfer | undefined
  forEach(transferables, (transferable) => {
    begun ??= transferable.begin(item)
  })
  return begun
}

/** Its content is copied, as it may be read until everything is cloned, and then released. */
function beginBufferTransfer(value: object): Transfer | undefined {
  if (!isBuffer(value)) return undefined
  const { copy } = beginBuiltIn(value, (item) => item) as Begun
  return { received: copy, commit: () => void transferBuffer(value) }
}

function isBuffer(value: object): value is ArrayBuffer {
  try {
    isDetached(value)
    return true
  } catch {
    return false
  }
}

function clone(value: unknown, memory: object): unknown {
  if (typeof value === 'symbol' || typeof value === 'function') throw notCloneable(value)
  if (!isWebIdlObject(value)) return value
  if (mapHas(memory, value)) return mapGet(memory, value)
  const into: CloneInto = (item) => clone(item, memory)
  const { copy, fill } = begin(value, into)
  mapSet(memory as Map<unknown, unknown>, value, copy)
  fill?.(into)
  return copy
}

function begin(value: object, into: CloneInto): Begun {
  if (isArray(value)) return beginPlain(value, into)
  let copy: object | undefined
  forEach(cloneables, (cloneable) => {
    copy ??= cloneable(value)
  })
  if (copy !== undefined) return { copy }
  if (isPlatformObject(value))
    throw new DOMException('Cannot clone object of unsupported type.', 'DataCloneError')
  if (isWithoutCopy(value)) throw notCloneable(value)
  return beginBuiltIn(value, into) ?? beginPlain(value, into)
}

function beginPlain(value: object, _into: CloneInto): Begun {
  const list: unknown[] = []
  if (isArray(value)) list.length = value.length
  const copy = isArray(value) ? list : {}
  const fill = (into: CloneInto) =>
    forEach(objectKeys(value), (key) => {
      if (getOwnPropertyDescriptor(value, key) === undefined) return
      defineProperty(copy, key, {
        value: into(reflectGet(value, key)),
        writable: true,
        enumerable: true,
        configurable: true,
      })
    })
  return { copy, fill }
}

/** The exception with its stack, as the class that it is. */
function cloneException(value: object): object | undefined {
  if (!isDOMException(value)) return undefined
  const amounts = amountsOf(value)
  const copy =
    amounts === undefined
      ? new DOMException(value.message, value.name)
      : new QuotaExceededError(value.message, {
          quota: amounts.quota ?? undefined,
          requested: amounts.requested ?? undefined,
        })
  setStack(copy, stackOf(value))
  return copy
}

function cloneBlob(value: object): object | undefined {
  if (isFile(value)) {
    const { lastModified, name, type } = value
    return new File([blobOf(blobBytes(value), '')], name, { type, lastModified })
  }
  const key = materialOf(value)
  if (key) return createKey(key)
  return isBlob(value) ? blobOf(blobBytes(value), value.type) : undefined
}

// oxlint-disable typescript/unbound-method -- each is called with the receiver that it is to be asked about
const WEAK: readonly Function[] = [
  WeakMap.prototype.has,
  WeakSet.prototype.has,
  WeakRef.prototype.deref,
  FinalizationRegistry.prototype.unregister,
]
const GENERATORS = [function* () {}, async function* () {}].map((example) =>
  getPrototypeOf(example.prototype as object),
)

/** Objects whose slots have no copy. */
function isWithoutCopy(value: object): boolean {
  if (isPromise(value)) return true
  const prototype = getPrototypeOf(value)
  if (prototype === null || prototype === ObjectPrototype) return false
  const above = getPrototypeOf(prototype)
  let found = above !== null && (above === GENERATORS[0] || above === GENERATORS[1])
  if (found || !(Symbol.toStringTag in value)) return found
  forEach(WEAK, (method) => {
    try {
      apply(method, value, [value])
      found = true
    } catch {
      // It is none of these.
    }
  })
  return found
}

const ObjectPrototype = Object.prototype

function notCloneable(value: unknown): DOMException {
  return new DOMException(`${described(value)} could not be cloned.`, 'DataCloneError')
}

function described(value: unknown): string {
  if (typeof value === 'symbol') return symbolText(value)
  if (typeof value === 'function') return functionSource(value)
  const constructor: unknown = isWebIdlObject(value) ? reflectGet(value, 'constructor') : undefined
  const isNamed = typeof constructor === 'function' && hasOwn(constructor, 'name')
  return `#<${isNamed ? String(constructor.name) : 'Object'}>`
}
