import { contentsOf, itemsOf, type Contents } from './inspect-contents.ts'
import { errorKind, isError } from './inspect-error.ts'
import { indexedKeys, keysOf } from './inspect-keys.ts'
import { functionBase, literalOf } from './inspect-literals.ts'
import { constructorName, builtInTag, plainPrefix, prefixOf, tagOf } from './inspect-names.ts'
import type { Settings } from './inspect-options.ts'
import {
  apply,
  getPrototypeOf,
  isArray,
  mapGet,
  objectKeys,
  push,
  slice,
  viewLength,
  viewTag,
} from './primordials.ts'

/** One walk over a value. */
export interface Walk {
  readonly settings: Settings
  readonly path: object[]
  readonly circular: object[]
  /** The depth of what was formatted last: entries far above it get lines of their own. */
  deepest: number
  indentation: number
  /** Characters left. */
  room: number
  show(value: unknown): string
  /** `name: value`, or only the value for an item of a list. */
  property(owner: object, key: string | symbol, isItem?: boolean): string
}

/** How an object of some kind is shown. */
export interface Kind {
  /** Shown before the braces, or alone when there is nothing to put in them. */
  readonly base?: string
  readonly style?: string
  /** Shown before all, and left out where the length of a line is measured. */
  readonly label?: string
  /** Absent: a brace. */
  readonly open?: string
  readonly close?: string
  /** Shown below the deepest level. */
  readonly summary: string
  /** Pushes what the object holds beside its properties. */
  readonly contents?: Contents | undefined
  readonly keys: (string | symbol)[]
  /** Whose properties to show; absent: the object's own. */
  readonly view?: object
  /** A list is put in columns. */
  readonly list?: boolean
}

/** How the instances of a class are shown. */
interface View {
  readonly of: (value: never) => object
  /** With the class in front of what is shown, as for a value of its own. */
  readonly isLabelled: boolean
}

const views = new Map<object, View>()

/**
 * Shows the instances of a class, whose state is private, with the properties of what `of` returns, or as a map when
 * that is a list of entries.
 */
export function showAs<Shown extends object>(
  constructor: { readonly prototype: Shown },
  of: (value: Shown) => object,
  { isLabelled = false } = {},
): void {
  views.set(constructor.prototype, { of, isLabelled })
}

export function kindOf(value: object, walk: Walk): Kind {
  const name = constructorName(value)
  const tag = tagOf(value)
  if (isArray(value) || viewTag(value) !== undefined) return listKind(value, { name, tag }, walk)
  if (typeof value === 'function')
    return { ...functionBase(value, name, tag), keys: keysOf(value, walk.settings) }
  if (isError(value)) return errorKind(value, { name, tag }, walk)
  const keys = keysOf(value, walk.settings)
  const literal = literalOf(value, { name, tag, keys }, walk.settings)
  if (literal) return { ...literal, keys: literal.keys ?? keys }
  return viewKind(value, name ?? '') ?? plainKind(value, { name, tag, keys }, walk.settings)
}

interface Named {
  readonly name: string | null
  readonly tag: string
}

function plainKind(
  value: object,
  { name, tag, keys }: Named & { readonly keys: (string | symbol)[] },
  settings: Settings,
): Kind {
  const held = contentsOf(value, name, settings)
  const size = held?.size === undefined ? '' : `(${held.size})`
  const plain = plainPrefix(value, name, tag)
  const summary = summaryOf(plain, name)
  if (held) {
    const open = `${prefixOf(name, tag, { fallback: held.type, size })}{`
    return { open, summary, contents: held, keys: joinedKeys(held.keys ?? [], keys) }
  }
  if (name !== 'Object') return { open: `${plain}{`, summary, keys }
  if (builtInTag(value) === 'Arguments') return { open: '[Arguments] {', summary, keys }
  return { open: tag === '' ? '{' : `${plain}{`, summary, keys }
}

function joinedKeys(first: readonly string[], rest: (string | symbol)[]): (string | symbol)[] {
  if (first.length === 0) return rest
  const keys: (string | symbol)[] = []
  for (let index = 0; index < first.length; index++) push(keys, first[index] as string)
  for (let index = 0; index < rest.length; index++) push(keys, rest[index] as string | symbol)
  return keys
}

const summaryOf = (prefix: string, name: string | null): string => {
  const text = slice(prefix, 0, -1)
  return name === null ? text : `[${text}]`
}

function listKind(value: object, { name, tag }: Named, { settings }: Walk): Kind {
  const typed = viewTag(value)
  const length = typed === undefined ? (value as unknown[]).length : viewLength(value)
  const plain = typed === undefined && name === 'Array' && tag === ''
  const title = plain
    ? ''
    : prefixOf(name, tag, { fallback: typed ?? 'Array', size: `(${length})` })
  return {
    open: `${title}[`,
    close: ']',
    summary: summaryOf(plainPrefix(value, name, tag), name),
    keys: indexedKeys(value, length, settings),
    contents: itemsOf(value, length),
    list: true,
  }
}

function viewKind(value: object, name: string): Kind | undefined {
  for (let proto = getPrototypeOf(value); proto !== null; proto = getPrototypeOf(proto)) {
    const shown = mapGet(views, proto) as View | undefined
    if (shown === undefined) continue
    const view = apply(shown.of, undefined, [value]) as object
    const summary = `[${name}]`
    if (shown.isLabelled)
      return { label: `${name} `, summary: '[Object]', keys: objectKeys(view), view }
    if (isArray(view)) return { open: `${name} {`, summary, keys: [], contents: entriesOf(view) }
    return { open: `${name} {`, summary, keys: objectKeys(view), view }
  }
  return undefined
}

const entriesOf = (pairs: readonly (readonly [unknown, unknown])[]): Contents => ({
  size: pairs.length,
  push(walk, output) {
    for (let index = 0; index < pairs.length && walk.room > 0; index++) {
      const pair = pairs[index] as readonly [unknown, unknown]
      push(output, `${walk.show(pair[0])} => ${walk.show(pair[1])}`)
    }
  },
})
