import {
  defineProperty,
  freeze,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  ownKeys,
} from '#sandbox/guest/web/primordials.ts'

/** Globals that the code of a module may replace, and whose properties it may change, while it loads. */
export const EXTENSIBLE: readonly string[] =
  `AggregateError Array ArrayBuffer BigInt BigInt64Array BigUint64Array Boolean DataView Date
Error EvalError FinalizationRegistry Float32Array Float64Array Function Int16Array Int32Array
Int8Array Intl Iterator JSON Map Math Number Object Promise Proxy RangeError ReferenceError
Reflect RegExp Set String Symbol SyntaxError TypeError URIError Uint16Array Uint32Array
Uint8Array Uint8ClampedArray WeakMap WeakRef WeakSet escape isFinite isNaN parseFloat parseInt
unescape AbortController AbortSignal Blob DOMException Event EventTarget File FormData Headers
ReadableStream Request Response TextDecoder TextEncoder URL URLSearchParams atob btoa
clearInterval clearTimeout console crypto fetch navigator performance queueMicrotask self
setInterval setTimeout structuredClone`.split(/\s+/)
/** V8 adds these to each context only when it has been made from the snapshot. */
export const LATE: readonly string[] = [
  'AsyncDisposableStack',
  'DisposableStack',
  'Float16Array',
  'SuppressedError',
]

/** V8 adds to it as well. */
export const asyncIteratorPrototype: object = (() => {
  const generator: unknown = Reflect.get(getPrototypeOf(async function* () {}) ?? {}, 'prototype')
  return (isObject(generator) && getPrototypeOf(generator)) || {}
})()

/** What syntax and methods make: no name leads to its prototype. */
const examples = (): object[] => [
  function* () {},
  async () => {},
  async function* () {},
  [].values(),
  new Map().values(),
  new Set().values(),
  ''[Symbol.iterator](),
  ''.matchAll(/./g),
  [].values().map(() => 0),
  Iterator.from({ next: () => ({ done: true, value: 0 }) }),
  new Headers().keys(),
  new FormData().keys(),
  new URLSearchParams().keys(),
  new Intl.Segmenter().segment(''),
  new Intl.Segmenter().segment('')[Symbol.iterator](),
  Uint8Array,
  Uint8Array.prototype,
]

/**
 * Freezes the objects that the language and the platform share between the calls of a context, as they are reached from
 * these globals and from syntax, and the names of the globals. For the snapshot, before any site code has run. Gives back
 * what may still be extended while a module loads.
 */
export function freezeIntrinsics(globals: readonly string[]): object[] {
  const hidden = examples().map(getPrototypeOf).filter(isObject)
  const open = new Set([
    asyncIteratorPrototype,
    Reflect.get(Array.prototype, Symbol.unscopables) as object,
    ...hidden,
    ...hidden.map(getPrototypeOf).filter(isObject),
    ...EXTENSIBLE.flatMap(withPrototype),
  ])
  const seen = new Set<unknown>([globalThis])
  const queue: unknown[] = globals.map((name) => Reflect.get(globalThis, name))
  queue.push(...hidden)
  while (queue.length > 0) {
    const next = queue.pop()
    if (!isObject(next) || seen.has(next)) continue
    seen.add(next)
    queue.push(getPrototypeOf(next), ...contentOf(next))
    if (!open.has(next)) freeze(next)
  }
  for (const name of globals) if (!EXTENSIBLE.includes(name)) fixGlobal(name)
  return [...open]
}

/** An attribute keeps its accessors, which know what may be set. */
function fixGlobal(name: string): void {
  const isValue = getOwnPropertyDescriptor(globalThis, name)?.get === undefined
  defineProperty(globalThis, name, {
    ...(isValue ? { writable: false } : {}),
    configurable: false,
  })
}

/** A global with the prototype of what it constructs. The global object itself stays the site's. */
function withPrototype(name: string): object[] {
  const value: unknown = Reflect.get(globalThis, name)
  if (!isObject(value) || value === globalThis) return []
  const prototype: unknown = getOwnPropertyDescriptor(value, 'prototype')?.value
  return isObject(prototype) ? [value, prototype] : [value]
}

function contentOf(owner: object): unknown[] {
  return ownKeys(owner).flatMap((key): unknown[] => {
    const { value, get, set } = getOwnPropertyDescriptor(owner, key) ?? {}
    return [value, get, set]
  })
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}
