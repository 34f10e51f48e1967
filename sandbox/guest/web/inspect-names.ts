import {
  getOwnPropertyDescriptor,
  getPrototypeOf,
  isPrototypeOf,
  mapGet,
  reflectGet,
  slice,
  toTag,
} from './primordials.ts'

const MAX_PROTOTYPES = 100

/** A proxy has no prototype of its own, and iterators do not tell their class. */
const UNNAMED = ['Proxy', 'Iterator']
/** The constructors of the language, whose `constructor` becomes an accessor once a module has been evaluated. */
const BUILT_IN = new Map<object, string>()
for (const name of Object.getOwnPropertyNames(globalThis)) {
  const value: unknown = Reflect.getOwnPropertyDescriptor(globalThis, name)?.value
  if (typeof value !== 'function' || !/^[A-Z]/.test(name) || UNNAMED.includes(name)) continue
  const { prototype } = value as { prototype?: object }
  if (prototype) BUILT_IN.set(prototype, name)
}
const typedArray = getPrototypeOf(Uint8Array.prototype)
if (typedArray) BUILT_IN.set(typedArray, 'TypedArray')

export const isBuiltIn = (prototype: object): boolean => mapGet(BUILT_IN, prototype) !== undefined

/** The class of an object as its prototypes name it; null when it has no prototype. */
export function constructorName(value: object): string | null {
  let steps = 0
  for (let at: object | null = value; at !== null && steps < MAX_PROTOTYPES; steps++) {
    const builtIn = mapGet(BUILT_IN, at)
    if (typeof builtIn === 'string') return builtIn
    const name = nameAt(at, value)
    if (name !== undefined) return name
    at = getPrototypeOf(at)
  }
  const parent = getPrototypeOf(value)
  if (parent === null) return null
  const own = builtInTag(value)
  return getPrototypeOf(parent) === null
    ? `${own} <[Object: null prototype] {}>`
    : `${own} <Complex prototype>`
}

function nameAt(holder: object, value: object): string | undefined {
  const constructor: unknown = getOwnPropertyDescriptor(holder, 'constructor')?.value
  if (typeof constructor !== 'function') return undefined
  const name: unknown = getOwnPropertyDescriptor(constructor, 'name')?.value
  const prototype: unknown = getOwnPropertyDescriptor(constructor, 'prototype')?.value
  if (typeof name !== 'string' || name === '' || typeof prototype !== 'object') return undefined
  return prototype !== null && isPrototypeOf(prototype, value) ? name : undefined
}

/** `Array` of `[object Array]`. */
export const builtInTag = (value: object): string => slice(toTag(value), 8, -1)

export function tagOf(value: object): string {
  const tag: unknown = reflectGet(value, Symbol.toStringTag)
  return typeof tag === 'string' ? tag : ''
}

/** The prefix of the braces: `Foo(2) [Tag] `, `[Object: null prototype] `. */
export function prefixOf(
  name: string | null,
  tag: string,
  { fallback, size = '' }: { readonly fallback: string; readonly size?: string },
): string {
  if (name === null) {
    const more = tag !== '' && fallback !== tag ? `[${tag}] ` : ''
    return `[${fallback}${size}: null prototype] ${more}`
  }
  return tag !== '' && name !== tag ? `${name}${size} [${tag}] ` : `${name}${size} `
}

/** The same where nothing is known of the value but its class. */
export function plainPrefix(value: object, name: string | null, tag: string): string {
  const own = name === null ? builtInTag(value) : ''
  return prefixOf(name, tag, { fallback: own === tag && own !== '' ? 'Object' : own })
}
