import { prefixOf } from './inspect-names.ts'
import type { Settings } from './inspect-options.ts'
import { formatNumber, formatSymbol, quote } from './inspect-text.ts'
import {
  dateTime,
  dateToIso,
  endsWith,
  filter,
  functionSource,
  getPrototypeOf,
  hasOwn,
  patternSource,
  patternText,
  reflectGet,
  startsWith,
  toLowerCase,
  unboxBigInt,
  unboxBoolean,
  unboxNumber,
  unboxString,
  unboxSymbol,
} from './primordials.ts'

const RegExpClass = RegExp

interface Base {
  readonly base: string
  readonly style: string
  readonly summary: string
  readonly keys?: (string | symbol)[]
}

interface Shape {
  readonly name: string | null
  readonly tag: string
  readonly keys: readonly (string | symbol)[]
}

/** `[Function: name]`, `[class Name extends Base]`. */
export function functionBase(value: Function, name: string | null, tag: string): Base {
  const source = functionSource(value)
  const isClass = startsWith(source, 'class') && endsWith(source, '}')
  const base = isClass ? classBase(value, name, tag) : plainFunction(value, name, tag, source)
  return { base, style: 'special', summary: base }
}

function classBase(value: Function, name: string | null, tag: string): string {
  const own = hasOwn(value, 'name') ? textAt(value, 'name') : ''
  let base = `class ${own === '' ? '(anonymous)' : own}`
  if (name !== 'Function' && name !== null) base += ` [${name}]`
  if (tag !== '' && name !== tag) base += ` [${tag}]`
  if (name === null) return `[${base} extends [null prototype]]`
  const parent = getPrototypeOf(value)
  const inherited = parent === null ? '' : textAt(parent, 'name')
  return inherited === '' ? `[${base}]` : `[${base} extends ${inherited}]`
}

function plainFunction(value: Function, name: string | null, tag: string, source: string): string {
  const type = functionType(tag, source)
  const own = textAt(value, 'name')
  let base = `[${type}${name === null ? ' (null prototype)' : ''}`
  base += own === '' ? ' (anonymous)]' : `: ${own}]`
  if (name !== type && name !== null) base += ` ${name}`
  return tag !== '' && name !== tag ? `${base} [${tag}]` : base
}

const TYPES = ['AsyncGeneratorFunction', 'GeneratorFunction', 'AsyncFunction']

function functionType(tag: string, source: string): string {
  for (let index = 0; index < TYPES.length; index++) {
    const type = TYPES[index] as string
    if (tag === type) return type
  }
  return startsWith(source, 'async ') ? 'AsyncFunction' : 'Function'
}

function textAt(value: object, key: string): string {
  const text: unknown = reflectGet(value, key)
  return typeof text === 'string' ? text : ''
}

/** Dates, patterns and boxed primitives, which have a text of their own; undefined for anything else. */
export function literalOf(value: object, shape: Shape, settings: Settings): Base | undefined {
  return dateBase(value, shape) ?? patternBase(value, shape) ?? boxedBase(value, shape, settings)
}

function dateBase(value: object, { name, tag }: Shape): Base | undefined {
  const time = attempt(() => dateTime(value as Date), value, Date.prototype)
  if (time === undefined) return undefined
  const text = time - time === 0 ? dateToIso(value as Date) : 'Invalid Date'
  const prefix = prefixOf(name, tag, { fallback: 'Date' })
  const base = prefix === 'Date ' ? text : prefix + text
  return { base, style: 'date', summary: base }
}

function patternBase(value: object, { name, tag }: Shape): Base | undefined {
  if (value === RegExp.prototype) return undefined
  if (attempt(() => patternSource(value), value, RegExp.prototype) === undefined) return undefined
  // A copy, because the flags are read from the prototype.
  const text = patternText(name === null ? new RegExpClass(value as RegExp) : (value as RegExp))
  const prefix = prefixOf(name, tag, { fallback: 'RegExp' })
  const base = prefix === 'RegExp ' ? text : prefix + text
  return { base, style: 'regexp', summary: base }
}

interface Box {
  readonly type: string
  readonly prototype: object
  read(value: object, settings: Settings): string
}

const BOXES: readonly Box[] = [
  { type: 'Number', prototype: Number.prototype, read: (v) => formatNumber(unboxNumber(v)) },
  { type: 'String', prototype: String.prototype, read: (v, s) => quote(unboxString(v), s) },
  { type: 'Boolean', prototype: Boolean.prototype, read: (v) => `${unboxBoolean(v)}` },
  { type: 'BigInt', prototype: BigInt.prototype, read: (v) => `${unboxBigInt(v)}n` },
  {
    type: 'Symbol',
    prototype: Symbol.prototype,
    read: (v, s) => formatSymbol(unboxSymbol(v), s),
  },
]

function boxedBase(value: object, shape: Shape, settings: Settings): Base | undefined {
  for (let index = 0; index < BOXES.length; index++) {
    const box = BOXES[index] as Box
    const { type } = box
    const text = attempt(() => box.read(value, settings), value, box.prototype)
    if (text === undefined) continue
    const { name, tag, keys } = shape
    let base = `[${type}`
    if (name !== type) base += name === null ? ' (null prototype)' : ` (${name})`
    base += `: ${text}]`
    if (tag !== '' && tag !== name) base += ` [${tag}]`
    const own = type === 'String' ? filter(keys, (key) => !isIndex(key)) : [...keys]
    return { base, style: toLowerCase(type), summary: base, keys: own }
  }
  return undefined
}

const isIndex = (key: string | symbol): boolean =>
  typeof key === 'string' && (key === 'length' || `${Number(key)}` === key)

/**
 * What `read` gives, which throws for an object without the built-in's state; undefined also for objects that do not
 * inherit from it, unless they inherit from nothing.
 */
export function attempt<Result>(
  read: () => Result,
  value: object,
  prototype: object,
): Result | undefined {
  if (!inherits(value, prototype)) return undefined
  try {
    return read()
  } catch {
    return undefined
  }
}

function inherits(value: object, prototype: object): boolean {
  let at = getPrototypeOf(value)
  if (at === null) return true
  for (let steps = 0; at !== null && steps < 100; steps++) {
    if (at === prototype) return true
    at = getPrototypeOf(at)
  }
  return false
}
