import { keysOf } from './inspect-keys.ts'
import { kindOf, type Kind, type Walk } from './inspect-kinds.ts'
import { layOut, sortEntries } from './inspect-layout.ts'
import { isBuiltIn } from './inspect-names.ts'
import { CONSOLE_SETTINGS, readSettings, type Settings } from './inspect-options.ts'
import { stylize } from './inspect-style.ts'
import { formatNumber, formatString, formatSymbol, formatKey, widthOf } from './inspect-text.ts'
import {
  getOwnPropertyDescriptor,
  getPrototypeOf,
  hasOwn,
  isArray,
  push,
  toWellFormed,
  apply,
  join,
  reflectGet,
  repeat,
  split,
  toText,
} from './primordials.ts'

const INDENT = 2
const MAX_PROPERTIES = 1000
const UNSHOWABLE = '[value that cannot be shown]'

const OF_DENO = Symbol.for('Deno.customInspect')
const OF_NODE = Symbol.for('nodejs.util.inspect.custom')

type Inspect = (value?: unknown, options?: unknown) => string

interface PropertyAt {
  readonly key: string | symbol
  readonly isItem?: boolean | undefined
  /** What a getter is called on; absent: the owner. */
  readonly receiver?: object
}

/** A value as the console shows it, bounded in depth, width and length. Never throws, whatever the value does. */
export function inspect(value: unknown, settings: Settings = CONSOLE_SETTINGS): string {
  try {
    return formatValue(walkWith(settings), value)
  } catch {
    return UNSHOWABLE
  }
}

/** `Deno.inspect`: throws what a custom inspector throws. */
export const denoInspect = (value?: unknown, options?: unknown): string =>
  toWellFormed(formatValue(walkWith(readSettings(options)), value))

function walkWith(settings: Settings): Walk {
  const walk: Walk = {
    settings,
    path: [],
    circular: [],
    deepest: 0,
    indentation: settings.indentation,
    room: settings.room,
    show: (inner) => formatValue(walk, inner),
    property: (owner, key, isItem) => formatProperty(walk, owner, { key, isItem }),
  }
  return walk
}

function formatValue(walk: Walk, value: unknown): string {
  const text =
    typeof value === 'function' || (typeof value === 'object' && value !== null)
      ? formatObject(walk, value)
      : formatPrimitive(walk, value)
  walk.room -= text.length
  return text
}

function formatPrimitive({ indentation, settings }: Walk, value: unknown): string {
  if (typeof value === 'string') return formatString(value, indentation, settings)
  if (value === null) return stylize(settings, 'null', 'null')
  if (typeof value === 'number') return stylize(settings, formatNumber(value), 'number')
  if (typeof value === 'bigint') return stylize(settings, `${value}n`, 'bigint')
  if (typeof value === 'symbol') return stylize(settings, formatSymbol(value, settings), 'symbol')
  return stylize(settings, `${value as undefined}`, typeof value)
}

function formatObject(walk: Walk, value: object): string {
  if (walk.room <= 0) return '[...]'
  const { deepest, indentation } = walk
  const levels = walk.path.length
  try {
    const custom = customText(walk, value, denoInspect)
    if (custom !== undefined) return typeof custom === 'string' ? custom : walk.show(custom.value)
    for (let index = 0; index < walk.path.length; index++)
      if (walk.path[index] === value)
        return stylize(walk.settings, `[Circular *${circularIndex(walk, value)}]`, 'special')
    return formatKind(walk, value)
  } catch (error) {
    if (walk.settings.throws) throw error
    walk.path.length = levels
    walk.deepest = deepest
    walk.indentation = indentation
    return UNSHOWABLE
  }
}

function circularIndex(walk: Walk, value: object): number {
  for (let index = 0; index < walk.circular.length; index++)
    if (walk.circular[index] === value) return index + 1
  push(walk.circular, value)
  return walk.circular.length
}

function formatKind(walk: Walk, value: object): string {
  const kind = kindOf(value, walk)
  const text = formatUnlabelled(walk, value, kind)
  return kind.label === undefined ? text : kind.label + text
}

function formatUnlabelled(walk: Walk, value: object, kind: Kind): string {
  const { settings } = walk
  const hidden = settings.showHidden ? inheritedKeys(value) : []
  if (kind.keys.length === 0 && hidden.length === 0) {
    if (kind.base !== undefined) return stylize(settings, kind.base, kind.style ?? '')
    if (isEmpty(kind)) return `${kind.open ?? '{'}${kind.close ?? '}'}`
  }
  if (walk.path.length > settings.depth) return stylize(settings, kind.summary, 'special')
  return formatBraces(walk, value, { kind, hidden })
}

const isEmpty = ({ contents }: Kind): boolean => contents?.push === undefined || contents.size === 0

function formatBraces(
  walk: Walk,
  value: object,
  { kind, hidden }: { readonly kind: Kind; readonly hidden: readonly Inherited[] },
): string {
  push(walk.path, value)
  const level = walk.path.length
  walk.deepest = level
  const output: string[] = []
  // The items of a list are indented as the properties that they are.
  const indent = kind.list === true ? 0 : INDENT
  walk.indentation += indent
  kind.contents?.push?.(walk, output)
  walk.indentation -= indent
  const items = output.length
  pushProperties(walk, { owner: kind.view ?? value, keys: kind.keys, output })
  for (let index = 0; index < hidden.length; index++) {
    const { owner, key } = hidden[index] as Inherited
    push(output, formatProperty(walk, owner, { key, receiver: value }))
  }
  walk.path.length = level - 1
  const sorted = sortEntries(output, kind.list === true ? items : 0, walk.settings)
  const numbers = kind.list === true && isNumeric(value, sorted.length)
  return layOut(walk, referenced(walk, value, kind), { output: sorted, level, numbers })
}

/** With the mark that what is inside refers to. */
function referenced(walk: Walk, value: object, kind: Kind): Kind {
  for (let index = 0; index < walk.circular.length; index++) {
    if (walk.circular[index] !== value) continue
    const mark = stylize(walk.settings, `<ref *${index + 1}>`, 'special')
    if (walk.settings.compact === true) return { ...kind, open: `${mark} ${kind.open ?? '{'}` }
    return { ...kind, base: kind.base === undefined ? mark : `${mark} ${kind.base}` }
  }
  return kind
}

function pushProperties(
  walk: Walk,
  of: {
    readonly owner: object
    readonly keys: readonly (string | symbol)[]
    readonly output: string[]
  },
): void {
  for (let index = 0; index < of.keys.length; index++) {
    const key = of.keys[index]
    if (key === undefined) continue
    if (index === MAX_PROPERTIES || walk.room <= 0) {
      push(of.output, '... more properties')
      return
    }
    push(of.output, walk.property(of.owner, key))
  }
}

function isNumeric(value: object, count: number): boolean {
  const list = value as readonly unknown[]
  for (let index = 0; index < count; index++) {
    const item = isArray(value)
      ? (getOwnPropertyDescriptor(value, `${index}`)?.value as unknown)
      : list[index]
    if (typeof item !== 'number' && typeof item !== 'bigint') return false
  }
  return true
}

interface Inherited {
  readonly owner: object
  readonly key: string | symbol
}

/** Accessors and values that the classes of site code give to their instances: `showHidden` shows them. */
function inheritedKeys(value: object): Inherited[] {
  const found: Inherited[] = []
  let owner = getPrototypeOf(value)
  for (let steps = 0; owner !== null && !isBuiltIn(owner) && steps < 3; steps++) {
    const keys = keysOf(owner, { ...CONSOLE_SETTINGS, showHidden: true })
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index] as string | symbol
      if (key === 'constructor' || hasOwn(value, key)) continue
      if (typeof getOwnPropertyDescriptor(owner, key)?.value !== 'function')
        push(found, { owner, key })
    }
    owner = getPrototypeOf(owner)
  }
  return found
}

/**
 * What an object says of itself by `[Symbol.for('Deno.customInspect')](inspect, options)`, as text, or by
 * `[Symbol.for('nodejs.util.inspect.custom')](depth, options, inspect)`, which may also give a value to show instead.
 */
function customText(
  walk: Walk,
  value: object,
  inspect: Inspect,
): string | { readonly value: unknown } | undefined {
  const { settings } = walk
  if (!settings.customInspect) return undefined
  const ofDeno: unknown = reflectGet(value, OF_DENO)
  if (typeof ofDeno === 'function')
    return `${apply(ofDeno, value, [inspect, denoOptions(walk)]) as string}`
  const ofNode: unknown = reflectGet(value, OF_NODE)
  if (typeof ofNode !== 'function' || isPrototypeObject(value)) return undefined
  const depth = settings.depth - walk.path.length
  const result: unknown = apply(ofNode, value, [depth, nodeOptions(settings), inspect])
  if (result === value) return undefined
  if (typeof result !== 'string') return { value: result }
  return join(split(result, '\n'), `\n${repeat(' ', walk.indentation)}`)
}

/** The prototype of a class with such a method is no instance of it. */
function isPrototypeObject(value: object): boolean {
  const constructor: unknown = getOwnPropertyDescriptor(value, 'constructor')?.value
  return (
    typeof constructor === 'function' &&
    getOwnPropertyDescriptor(constructor, 'prototype')?.value === value
  )
}

/** Named as Node has them. */
const nodeOptions = (settings: Settings) => ({
  stylize: (text: unknown, style: unknown) => stylize(settings, toText(text), toText(style)),
  showHidden: settings.showHidden,
  depth: settings.depth,
  colors: settings.colors,
  customInspect: settings.customInspect,
  showProxy: settings.showProxy,
  maxArrayLength: settings.iterableLimit,
  maxStringLength: settings.strAbbreviateSize,
  breakLength: settings.breakLength,
  compact: settings.compact === 0 ? false : settings.compact,
  sorted: settings.sorted,
  getters: settings.getters,
  numericSeparator: undefined,
})

const denoOptions = (walk: Walk) => ({
  ...nodeOptions(walk.settings),
  indentationLvl: walk.indentation,
  currentDepth: walk.path.length,
  escapeSequences: walk.settings.escapeSequences,
  trailingComma: walk.settings.trailingComma,
  iterableLimit: walk.settings.iterableLimit,
  quotes: [...walk.settings.quotes],
})

/** `name: value`; only the value for an item of a list. Accessors are not run unless `getters` asks for it. */
function formatProperty(walk: Walk, owner: object, property: PropertyAt): string {
  const { key, isItem = false, receiver = owner } = property
  const { settings } = walk
  const descriptor = getOwnPropertyDescriptor(owner, key) ?? {
    value: reflectGet(owner, key) as unknown,
    enumerable: true,
  }
  const packed = settings.compact === true && !isItem
  const indent = packed ? INDENT + 1 : INDENT
  walk.indentation += indent
  const text = formatDescriptor(walk, descriptor, receiver)
  const broken = packed && widthOf(text, settings) > settings.breakLength
  const gap = broken ? `\n${repeat(' ', walk.indentation)}` : ' '
  walk.indentation -= indent
  return isItem
    ? text
    : `${formatKey(key, descriptor.enumerable !== false, settings)}:${gap}${text}`
}

function formatDescriptor(walk: Walk, descriptor: PropertyDescriptor, receiver: object): string {
  const { getters } = walk.settings
  // oxlint-disable-next-line typescript/unbound-method -- called with its receiver below
  const { get } = descriptor
  const isReadOnly = descriptor.set === undefined
  if (get === undefined)
    return isReadOnly ? walk.show(descriptor.value) : stylize(walk.settings, '[Setter]', 'special')
  const label = isReadOnly ? 'Getter' : 'Getter/Setter'
  const wanted = getters === true || getters === (isReadOnly ? 'get' : 'set')
  return wanted
    ? formatGetter(walk, label, () => apply(get, receiver, []) as unknown)
    : stylize(walk.settings, `[${label}]`, 'special')
}

function formatGetter(walk: Walk, label: string, read: () => unknown): string {
  const { settings } = walk
  const special = (text: string): string => stylize(settings, text, 'special')
  try {
    const value = read()
    const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function'
    if (isObject) return `${special(`[${label}]`)} ${walk.show(value)}`
    return `${special(`[${label}:`)} ${walk.show(value)}${special(']')}`
  } catch (error) {
    const message: unknown =
      typeof error === 'object' && error !== null ? reflectGet(error, 'message') : undefined
    const text = typeof message === 'string' ? message : 'undefined'
    return `${special(`[${label}:`)} <Inspection threw (${text})>${special(']')}`
  }
}
