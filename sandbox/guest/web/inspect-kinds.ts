import { contentsOf, indexedKeys } from './inspect-contents.ts'
import { errorBase, errorKeys } from './inspect-error.ts'
import { formatFunction, formatNumber, quote } from './inspect-text.ts'
import {
  apply,
  dateTime,
  dateToIso,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  hasOwn,
  isArray,
  isView,
  mapGet,
  objectKeys,
  patternText,
  reflectGet,
  slice,
  symbolText,
  toTag,
  unboxBigInt,
  unboxBoolean,
  unboxNumber,
  unboxString,
  unboxSymbol,
} from './primordials.ts'

/** One walk over a value. */
export interface Walk {
  readonly path: object[]
  readonly circular: object[]
  readonly depth: number
  /** The depth of what was formatted last: entries far above it get lines of their own. */
  deepest: number
  indentation: number
  /** Characters left. */
  room: number
  show(value: unknown): string
}

/** How an object of some kind is shown. */
export interface Kind {
  /** Shown before the braces, or alone when there is nothing to put in them. */
  readonly base?: string
  /** Absent: a brace. */
  readonly open?: string
  readonly close?: string
  /** Shown below the deepest level. */
  readonly summary: string
  /** Pushes what the object holds beside its properties. */
  readonly contents?: Contents | undefined
  /** The properties to show; absent: the enumerable ones. */
  readonly keys?: readonly (string | symbol)[] | undefined
  /** Whose properties to show; absent: the object's own. */
  readonly view?: object
}

export type Contents = (walk: Walk, output: string[]) => Items | undefined

/** How many of the entries are items of a list, and whether all are numbers. Long lists are put in columns. */
export interface Items {
  readonly count: number
  readonly numbers: boolean
}

const views = new Map<object, (value: never) => object>()

/** Shows the instances of a class, whose state is private, with the properties of what `view` returns. */
export function showAs<Shown extends object>(
  constructor: { readonly prototype: Shown },
  view: (value: Shown) => object,
): void {
  views.set(constructor.prototype, view)
}

export function kindOf(value: object, indentation: number): Kind {
  const name = constructorName(value)
  const type = slice(toTag(value), 8, -1)
  if (isArray(value) || (isView(value) && type !== 'DataView')) return listKind(value, name)
  if (typeof value === 'function') {
    const base = formatFunction(value, type)
    return { base, summary: base }
  }
  const base = value instanceof Error ? errorBase(value, name, indentation) : literal(type, value)
  if (base === undefined) return viewKind(value, name ?? '') ?? plainKind(value, name, type)
  return { base, summary: `[${name ?? 'Object'}]`, keys: keysBeside(base, value) }
}

function keysBeside(base: string, value: object): (string | symbol)[] | undefined {
  if (value instanceof Error) return errorKeys(value, base)
  return value instanceof String ? indexedKeys(value, value.length) : undefined
}

function plainKind(value: object, name: string | null, type: string): Kind {
  const tag = tagOf(value, name)
  const contents = contentsOf(type, value)
  const size = contents?.size === undefined ? '' : `(${contents.size})`
  const title = titleOf(name, tag, { fallback: contents === undefined ? 'Object' : type, size })
  const untitled = type === 'Arguments' ? '[Arguments] {' : '{'
  return {
    open: title === 'Object' ? untitled : `${title} {`,
    summary: name === null ? title : `[${titleOf(name, tag, { fallback: '', size: '' })}]`,
    contents: contents?.push,
  }
}

function listKind(value: object, name: string | null): Kind {
  const tag = tagOf(value, name)
  const length = Number(reflectGet(value, 'length'))
  const fallback = isArray(value) ? 'Array' : 'TypedArray'
  const title = titleOf(name, tag, { fallback, size: `(${length})` })
  const keys = indexedKeys(value, length)
  return {
    open: name === 'Array' && tag === '' ? '[' : `${title} [`,
    close: ']',
    summary: `[${name ?? 'Array'}]`,
    keys,
    contents: length === 0 && keys.length === 0 ? undefined : contentsOf('Array', value)?.push,
  }
}

function viewKind(value: object, name: string): Kind | undefined {
  for (let proto = getPrototypeOf(value); proto !== null; proto = getPrototypeOf(proto)) {
    const show = mapGet(views, proto)
    if (typeof show !== 'function') continue
    const view = apply(show, undefined, [value]) as object
    return { open: `${name} {`, summary: `[${name}]`, keys: objectKeys(view), view }
  }
  return undefined
}

const LITERALS: Readonly<Record<string, (value: object) => string>> = {
  Date: (value) => {
    const time = dateTime(value as Date)
    return time - time === 0 ? dateToIso(value as Date) : 'Invalid Date'
  },
  RegExp: (value) => patternText(value as RegExp),
  Number: (value) => `[Number: ${formatNumber(unboxNumber(value))}]`,
  String: (value) => `[String: ${quote(unboxString(value))}]`,
  Boolean: (value) => `[Boolean: ${unboxBoolean(value)}]`,
  BigInt: (value) => `[BigInt: ${unboxBigInt(value)}n]`,
  Symbol: (value) => `[Symbol: ${symbolText(unboxSymbol(value))}]`,
}

/** The text of a built-in that has a literal form; undefined also when the tag is made up. */
function literal(type: string, value: object): string | undefined {
  if (!hasOwn(LITERALS, type)) return undefined
  try {
    return LITERALS[type]?.(value)
  } catch {
    return undefined
  }
}

/** Their `constructor` is an accessor once a module has been evaluated, which inspection does not run. */
const ERRORS = [AggregateError, EvalError, RangeError, ReferenceError, SyntaxError, TypeError]
const BUILT_IN = new Map<object, string>(
  [Object, Function, Error, URIError, ...ERRORS].map(({ prototype, name }) => [
    prototype as object,
    name,
  ]),
)

function constructorName(value: object): string | null {
  let proto: object | null = value
  for (let steps = 0; proto !== null && steps < 100; steps++) {
    const builtIn = mapGet(BUILT_IN, proto)
    if (typeof builtIn === 'string') return builtIn
    const constructor: unknown = getOwnPropertyDescriptor(proto, 'constructor')?.value
    if (typeof constructor === 'function') {
      const name: unknown = getOwnPropertyDescriptor(constructor, 'name')?.value
      if (typeof name === 'string' && name !== '') return name
    }
    proto = getPrototypeOf(proto)
  }
  return null
}

function tagOf(value: object, name: string | null): string {
  const tag: unknown = reflectGet(value, Symbol.toStringTag)
  if (typeof tag !== 'string' || tag === '' || tag === name) return ''
  return getOwnPropertyDescriptor(value, Symbol.toStringTag)?.enumerable ? '' : tag
}

function titleOf(
  name: string | null,
  tag: string,
  { fallback, size }: { fallback: string; size: string },
): string {
  if (name === null)
    return `[${fallback}${size}: null prototype]${tag === '' || tag === fallback ? '' : ` [${tag}]`}`
  return tag === '' ? `${name}${size}` : `${name}${size} [${tag}]`
}
