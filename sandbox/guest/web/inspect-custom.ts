import type { Walk } from './inspect-kinds.ts'
import type { Settings } from './inspect-options.ts'
import { stylize } from './inspect-style.ts'
import {
  apply,
  getOwnPropertyDescriptor,
  join,
  reflectGet,
  repeat,
  split,
  toText,
} from './primordials.ts'

const OF_DENO = Symbol.for('Deno.customInspect')
const OF_NODE = Symbol.for('nodejs.util.inspect.custom')

type Inspect = (value?: unknown, options?: unknown) => string

/**
 * What an object says of itself by `[Symbol.for('Deno.customInspect')](inspect, options)`, as text, or by
 * `[Symbol.for('nodejs.util.inspect.custom')](depth, options, inspect)`, which may also give a value to show instead.
 */
export function customText(
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
