import { kindOf } from './inspect-kinds.ts'
import type { Kind, Walk } from './inspect-kinds.ts'
import { layOut } from './inspect-layout.ts'
import { formatKey, formatNumber, quote } from './inspect-text.ts'
import {
  apply,
  getOwnPropertyDescriptor,
  join,
  ownKeys,
  push,
  reflectGet,
  repeat,
  slice,
  split,
  symbolText,
} from './primordials.ts'

const MAX_DEPTH = 4
const MAX_PROPERTIES = 100
const MAX_STRING = 10_000
/** Characters of one inspected value: beyond it, objects are only named. */
const MAX_TOTAL = 65_536
const INDENT = 2
const CUSTOM = Symbol.for('nodejs.util.inspect.custom')

/** A value as Node's console shows it, bounded in depth, width and length. Never throws, whatever the value does. */
export function inspect(value: unknown, depth = MAX_DEPTH): string {
  const walk: Walk = {
    path: [],
    circular: [],
    depth,
    deepest: 0,
    indentation: 0,
    room: MAX_TOTAL,
    show: (inner) => formatValue(walk, inner),
  }
  try {
    return formatValue(walk, value)
  } catch {
    return UNSHOWABLE
  }
}

const UNSHOWABLE = '[value that cannot be shown]'

function formatValue(walk: Walk, value: unknown): string {
  const text =
    typeof value === 'function' || (typeof value === 'object' && value !== null)
      ? formatObject(walk, value)
      : formatPrimitive(walk, value)
  walk.room -= text.length
  return text
}

function formatPrimitive(walk: Walk, value: unknown): string {
  if (typeof value === 'string') return formatString(walk, value)
  if (typeof value === 'number') return formatNumber(value)
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'symbol') return symbolText(value)
  return `${value as undefined}`
}

function formatString(walk: Walk, value: string): string {
  const rest = value.length - MAX_STRING
  const text = rest > 0 ? slice(value, 0, MAX_STRING) : value
  const more = rest > 0 ? `... ${rest} more character${rest > 1 ? 's' : ''}` : ''
  if (text.length <= 16 || text.length <= 76 - walk.indentation) return quote(text) + more
  const lines = split(text, '\n')
  const quoted: string[] = []
  for (let index = 0; index < lines.length; index++) {
    const line = index < lines.length - 1 ? `${lines[index]}\n` : `${lines[index]}`
    if (line !== '') push(quoted, quote(line))
  }
  return join(quoted, ` +\n${repeat(' ', walk.indentation + INDENT)}`) + more
}

function formatObject(walk: Walk, value: object): string {
  if (walk.room <= 0) return '[...]'
  for (let index = 0; index < walk.path.length; index++)
    if (walk.path[index] === value) return `[Circular *${circularIndex(walk, value)}]`
  const { deepest, indentation } = walk
  const levels = walk.path.length
  try {
    const custom: unknown = reflectGet(value, CUSTOM)
    if (typeof custom === 'function') return formatCustom(walk, value, custom)
    return formatKind(walk, value)
  } catch {
    walk.path.length = levels
    walk.deepest = deepest
    walk.indentation = indentation
    return UNSHOWABLE
  }
}

/** What `[Symbol.for('nodejs.util.inspect.custom')]` returns: text as it is, anything else shown in its place. */
function formatCustom(walk: Walk, value: object, custom: Function): string {
  const options = { depth: walk.depth - walk.path.length }
  const result: unknown = apply(custom, value, [options.depth, options, inspect])
  if (result === value) return formatKind(walk, value)
  return typeof result === 'string' ? slice(result, 0, MAX_STRING) : walk.show(result)
}

function circularIndex(walk: Walk, value: object): number {
  for (let index = 0; index < walk.circular.length; index++)
    if (walk.circular[index] === value) return index + 1
  push(walk.circular, value)
  return walk.circular.length
}

function formatKind(walk: Walk, value: object): string {
  const kind = kindOf(value, walk.indentation)
  const keys = kind.keys ?? visibleKeys(value)
  const { close = '}', open = '{' } = kind
  if (kind.contents === undefined && keys.length === 0) return kind.base ?? open + close
  if (walk.path.length > walk.depth) return kind.summary
  const text = formatBraces(walk, value, { kind, keys })
  for (let index = 0; index < walk.circular.length; index++)
    if (walk.circular[index] === value) return `<ref *${index + 1}> ${text}`
  return text
}

function formatBraces(
  walk: Walk,
  value: object,
  { kind, keys }: { kind: Kind; keys: readonly (string | symbol)[] },
): string {
  push(walk.path, value)
  const level = walk.path.length
  walk.deepest = level
  walk.indentation += INDENT
  const output: string[] = []
  const items = kind.contents?.(walk, output)
  formatProperties(walk, { value: kind.view ?? value, keys, output })
  walk.indentation -= INDENT
  walk.path.length = level - 1
  return layOut(walk, kind, { output, level, items })
}

function visibleKeys(value: object): (string | symbol)[] {
  const keys: (string | symbol)[] = []
  const all = ownKeys(value)
  for (let index = 0; index < all.length && keys.length <= MAX_PROPERTIES; index++) {
    const key = all[index]
    if (key !== undefined && getOwnPropertyDescriptor(value, key)?.enumerable) push(keys, key)
  }
  return keys
}

function formatProperties(
  walk: Walk,
  of: { value: object; keys: readonly (string | symbol)[]; output: string[] },
): void {
  for (let index = 0; index < of.keys.length; index++) {
    const key = of.keys[index]
    if (key === undefined) continue
    if (index === MAX_PROPERTIES || walk.room <= 0) {
      push(of.output, '... more properties')
      return
    }
    const descriptor = getOwnPropertyDescriptor(of.value, key)
    const name = descriptor?.enumerable ? formatKey(key) : `[${String(key)}]`
    push(of.output, `${name}: ${formatProperty(walk, descriptor)}`)
  }
}

function formatProperty(walk: Walk, descriptor: PropertyDescriptor | undefined): string {
  if (descriptor === undefined) return 'undefined'
  if (descriptor.get !== undefined)
    return descriptor.set === undefined ? '[Getter]' : '[Getter/Setter]'
  return descriptor.set === undefined ? walk.show(descriptor.value) : '[Setter]'
}
