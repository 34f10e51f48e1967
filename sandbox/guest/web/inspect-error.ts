import { keysOf } from './inspect-keys.ts'
import type { Kind, Walk } from './inspect-kinds.ts'
import { attempt } from './inspect-literals.ts'
import { prefixOf } from './inspect-names.ts'
import {
  endsWith,
  errorText,
  filter,
  getOwnPropertyDescriptor,
  hasOwn,
  indexOf,
  isArray,
  isPrototypeOf,
  join,
  push,
  reflectGet,
  repeat,
  slice,
  split,
  startsWith,
  toTag,
} from './primordials.ts'

/** The name of this script in stacks. */
const PLATFORM = 'croft:prelude'
const MAX_STACK = 10_000
const FRAMES = '\n    at'
const errorPrototype = Error.prototype

export const isError = (value: object): value is Error =>
  isPrototypeOf(errorPrototype, value) || toTag(value) === '[object Error]'

interface Named {
  readonly name: string | null
  readonly tag: string
}

/** An error by its stack, under the name of its class; in brackets when it has no frames. */
export function errorKind(error: Error, { name, tag }: Named, walk: Walk): Kind {
  const stack = stackOf(error)
  const keys = errorKeys(error, stack, walk)
  const shown = withoutPlatform(headed(error, improved(stack, error, { name, tag })))
  const message = textOf(error, 'message')
  const from = message === '' ? -1 : indexOf(shown, message)
  const rest = from === -1 ? shown : slice(shown, from + message.length)
  const text = indexOf(rest, FRAMES) === -1 ? `[${shown}]` : shown
  const base =
    walk.indentation === 0 ? text : join(split(text, '\n'), `\n${repeat(' ', walk.indentation)}`)
  return { base, summary: `[${slice(prefixOf(name, tag, { fallback: 'Error' }), 0, -1)}]`, keys }
}

/** Without the frames of this script, which say nothing to a site. */
function withoutPlatform(stack: string): string {
  if (indexOf(stack, PLATFORM) === -1) return stack
  const kept = filter(
    split(stack, '\n'),
    (line) => !startsWith(line, '    at ') || indexOf(line, PLATFORM) === -1,
  )
  return join(kept, '\n')
}

/** The properties worth showing after the stack: what the stack says already is left out. */
function errorKeys(error: Error, stack: string, { settings }: Walk): (string | symbol)[] {
  const keys = filter(
    keysOf(error, settings),
    (key) => settings.showHidden || !isRepeated(error, key, stack),
  )
  for (const key of ['cause', 'errors']) {
    if (!hasOwn(error, key) || includes(keys, key)) continue
    if (key === 'cause' || isArray(getOwnPropertyDescriptor(error, key)?.value)) push(keys, key)
  }
  return keys
}

function isRepeated(error: Error, key: string | symbol, stack: string): boolean {
  if (key !== 'name' && key !== 'message' && key !== 'stack') return false
  const value: unknown = getOwnPropertyDescriptor(error, key)?.value
  return typeof value !== 'string' || key === 'name' || indexOf(stack, value) !== -1
}

function includes(keys: readonly (string | symbol)[], wanted: string): boolean {
  for (let index = 0; index < keys.length; index++) if (keys[index] === wanted) return true
  return false
}

function stackOf(error: Error): string {
  const stack: unknown = reflectGet(error, 'stack')
  if (typeof stack === 'string' && stack !== '') return slice(stack, 0, MAX_STACK)
  return slice(attempt(() => errorText(error), error, errorPrototype) ?? 'Error', 0, MAX_STACK)
}

const textOf = (value: object, key: string): string => {
  const text: unknown = reflectGet(value, key)
  return typeof text === 'string' ? text : ''
}

/** V8 writes the first line when an error is made; a `name` that it was given afterwards says more. */
function headed(error: Error, stack: string): string {
  const name = textOf(error, 'name')
  const message = textOf(error, 'message')
  const plain = message === '' ? 'Error' : `Error: ${message}`
  if (name === '' || name === 'Error' || !startsWith(stack, plain)) return stack
  const next = slice(stack, plain.length, plain.length + 1)
  return next === '' || next === '\n' ? name + slice(stack, 'Error'.length) : stack
}

/** A stack starts with the error's `name`, often plain `Error`; the name of its class says more. */
function improved(stack: string, error: Error, { name, tag }: Named): string {
  const own = textOf(error, 'name')
  if (name === null) return titled(stack, own, { length: headLength(stack), name, tag })
  if (tag === 'DOMException' || !endsWith(own, 'Error') || !startsWith(stack, own)) return stack
  const next = slice(stack, own.length, own.length + 1)
  if (next !== '' && next !== ':' && next !== '\n') return stack
  return titled(stack, own, { length: own.length, name, tag })
}

/** With the class in the place of the first `length` characters. */
function titled(
  stack: string,
  own: string,
  { length, name, tag }: Named & { readonly length: number },
): string {
  const fallback = length === 0 || name !== null ? 'Error' : slice(stack, 0, length)
  const prefix = slice(prefixOf(name, tag, { fallback }), 0, -1)
  if (own === prefix) return stack
  const rest = slice(stack, length)
  return indexOf(prefix, own) === -1 ? `${prefix} [${own}]${rest}` : prefix + rest
}

function headLength(stack: string): number {
  const end = indexOf(stack, ':')
  return end === -1 ? 0 : end
}
