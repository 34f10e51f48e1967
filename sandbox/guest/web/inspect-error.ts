import {
  endsWith,
  filter,
  getOwnPropertyDescriptor,
  hasOwn,
  indexOf,
  isArray,
  join,
  ownKeys,
  push,
  repeat,
  slice,
  split,
  startsWith,
} from './primordials.ts'

/** The name of this script in stacks. */
const PLATFORM = 'croft:prelude'

/** The stack of an error, under the name of its class; in brackets when it has no frames. */
export function errorBase(error: Error, name: string | null, indentation: number): string {
  const stack = withoutPlatform(named(error, stackOf(error), name))
  const text = indexOf(stack, '\n    at') === -1 ? `[${stack}]` : stack
  return indentation === 0 ? text : join(split(text, '\n'), `\n${repeat(' ', indentation)}`)
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
export function errorKeys(error: Error, base: string): (string | symbol)[] {
  const keys = filter(ownKeys(error), (key) => isWorthShowing(error, key, base))
  if (hasOwn(error, 'cause')) push(keys, 'cause')
  if (hasOwn(error, 'errors') && isArray(getOwnPropertyDescriptor(error, 'errors')?.value))
    push(keys, 'errors')
  return keys
}

function isWorthShowing(error: Error, key: string | symbol, base: string): boolean {
  if (key === 'stack' || key === 'cause' || key === 'errors') return false
  const descriptor = getOwnPropertyDescriptor(error, key)
  if (!descriptor?.enumerable) return false
  if (key !== 'message' && key !== 'name') return true
  const value: unknown = descriptor.value
  return typeof value === 'string' && indexOf(base, value) === -1
}

function stackOf(error: Error): string {
  const { stack } = error
  if (typeof stack === 'string' && stack !== '') return slice(stack, 0, 10_000)
  const { message, name } = error
  return message === '' ? `${name}` : `${name}: ${message}`
}

/** A stack starts with the error's `name`, often plain `Error`; the name of its class says more. */
function named(error: Error, stack: string, constructor: string | null): string {
  const name = `${error.name}`
  if (constructor === null || constructor === name) return stack
  if (!endsWith(name, 'Error') || !startsWith(stack, name)) return stack
  const next = slice(stack, name.length, name.length + 1)
  if (next !== '' && next !== ':' && next !== '\n') return stack
  const rest = slice(stack, name.length)
  return indexOf(constructor, name) === -1
    ? `${constructor} [${name}]${rest}`
    : `${constructor}${rest}`
}
