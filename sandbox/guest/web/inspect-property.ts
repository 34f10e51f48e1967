import type { Walk } from './inspect-kinds.ts'
import { stylize } from './inspect-style.ts'
import { formatKey, widthOf } from './inspect-text.ts'
import { apply, getOwnPropertyDescriptor, reflectGet, repeat } from './primordials.ts'

const INDENT = 2

interface PropertyAt {
  readonly key: string | symbol
  readonly isItem?: boolean | undefined
  /** What a getter is called on; absent: the owner. */
  readonly receiver?: object
}

/** `name: value`; only the value for an item of a list. Accessors are not run unless `getters` asks for it. */
export function formatProperty(walk: Walk, owner: object, property: PropertyAt): string {
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
