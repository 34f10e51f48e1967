import type { Walk } from './inspect-kinds.ts'
import { attempt } from './inspect-literals.ts'
import type { Settings } from './inspect-options.ts'
import { stylize } from './inspect-style.ts'
import { formatNumber } from './inspect-text.ts'
import {
  bufferLength,
  getPrototypeOf,
  hasOwn,
  isArray,
  isPromise,
  mapForEach,
  mapSize,
  max,
  min,
  numberText,
  padStart,
  push,
  reflectGet,
  setForEach,
  setSize,
  toTag,
  viewLength,
  dataViewLength,
  weakMapHas,
  weakSetHas,
} from './primordials.ts'

/** No longer run of holes is counted one by one. */
const MAX_SEARCH = 10_000
const MAX_BYTES = 10_000

/** What an object holds beside its properties. */
export interface Contents {
  /** How many there are of what `push` shows, where that can be counted. */
  readonly size?: number
  readonly push?: (walk: Walk, output: string[]) => void
}

interface Held extends Contents {
  /** Named where the object has no class. */
  readonly type: string
  /** Properties that are shown though they are accessors of the prototype. */
  readonly keys?: readonly string[]
}

export function contentsOf(
  value: object,
  name: string | null,
  settings: Settings,
): Held | undefined {
  if (name === 'Object') return undefined
  return collectionOf(value) ?? bufferOf(value, settings) ?? opaqueOf(value)
}

/** Of a list of that length. */
export const itemsOf = (value: object, size: number): Contents => ({
  size,
  push: isArray(value)
    ? (walk, output) => pushItems(value, walk, output)
    : (walk, output) => pushNumbers(value, walk, output),
})

function collectionOf(value: object): Held | undefined {
  const entries = attempt(() => mapSize(value), value, Map.prototype)
  if (entries !== undefined)
    return { type: 'Map', size: entries, push: (walk, output) => pushEntries(value, walk, output) }
  const members = attempt(() => setSize(value), value, Set.prototype)
  if (members === undefined) return undefined
  return { type: 'Set', size: members, push: (walk, output) => pushMembers(value, walk, output) }
}

function bufferOf(value: object, { showHidden }: Settings): Held | undefined {
  const size = attempt(() => bufferLength(value), value, ArrayBuffer.prototype)
  if (size !== undefined) {
    const push = showHidden
      ? undefined
      : (walk: Walk, output: string[]) => pushBytes(value as ArrayBuffer, walk, output)
    return { type: 'ArrayBuffer', keys: ['byteLength'], ...(push && { push }) }
  }
  if (attempt(() => dataViewLength(value), value, DataView.prototype) === undefined)
    return undefined
  return { type: 'DataView', keys: ['byteLength', 'byteOffset', 'buffer'] }
}

/** What cannot be looked into. */
function opaqueOf(value: object): Held | undefined {
  if (isPromise(value)) return { type: 'Promise', push: pushState }
  if (attempt(() => weakMapHas(value, value), value, WeakMap.prototype) !== undefined)
    return { type: 'WeakMap', push: pushUnknown }
  if (attempt(() => weakSetHas(value, value), value, WeakSet.prototype) !== undefined)
    return { type: 'WeakSet', push: pushUnknown }
  if (getPrototypeOf(value) === null && toTag(value) === '[object Module]')
    return { type: 'Module' }
  return isLocale(value) ? { type: 'Intl.Locale', keys: LOCALE } : undefined
}

const LOCALE =
  `baseName calendar caseFirst collation hourCycle language numberingSystem numeric region
script`.split(/\s+/)
const localePrototype = Intl.Locale.prototype

const isLocale = (value: object): boolean => getPrototypeOf(value) === localePrototype

const countOf = (walk: Walk, size: number): number => min(max(0, walk.settings.iterableLimit), size)

function pushItems(value: readonly unknown[], walk: Walk, output: string[]): void {
  const { length } = value
  const count = countOf(walk, length)
  let index = 0
  while (index < length && output.length < count && walk.room > 0) {
    if (hasOwn(value, `${index}`)) {
      push(output, walk.property(value, `${index}`, true))
      index++
      continue
    }
    const holes = countHoles(value, index, length)
    const text = `<${holes} empty item${holes > 1 ? 's' : ''}>`
    push(output, stylize(walk.settings, text, 'undefined'))
    index += holes
  }
  pushRest(output, length - index)
}

function countHoles(value: object, from: number, length: number): number {
  const end = min(length, from + MAX_SEARCH)
  let index = from
  while (index < end && !hasOwn(value, `${index}`)) index++
  return index === end && end < length ? length - from : index - from
}

function pushNumbers(value: object, walk: Walk, output: string[]): void {
  const length = viewLength(value)
  const count = countOf(walk, length)
  for (let index = 0; index < count && walk.room > 0; index++) {
    const item = (value as readonly unknown[])[index]
    const text = typeof item === 'bigint' ? `${item}n` : formatNumber(item as number)
    walk.room -= text.length
    push(output, stylize(walk.settings, text, typeof item))
  }
  pushRest(output, length - output.length)
  if (!walk.settings.showHidden) return
  for (let index = 0; index < VIEW.length; index++) {
    const key = VIEW[index] as string
    push(output, `[${key}]: ${walk.show(reflectGet(value, key))}`)
  }
}

const VIEW = ['BYTES_PER_ELEMENT', 'length', 'byteLength', 'byteOffset', 'buffer']

function pushEntries(map: object, walk: Walk, output: string[]): void {
  const size = mapSize(map)
  const count = countOf(walk, size)
  mapForEach(map, (item, key) => {
    if (output.length < count && walk.room > 0)
      push(output, `${walk.show(key)} => ${walk.show(item)}`)
  })
  pushRest(output, size - output.length)
}

function pushMembers(set: object, walk: Walk, output: string[]): void {
  const size = setSize(set)
  const count = countOf(walk, size)
  setForEach(set, (item) => {
    if (output.length < count && walk.room > 0) push(output, walk.show(item))
  })
  pushRest(output, size - output.length)
}

function pushRest(output: string[], rest: number): void {
  if (rest > 0) push(output, `... ${rest} more item${rest > 1 ? 's' : ''}`)
}

/** Nothing in the language tells whether a promise is settled. */
function pushState({ settings }: Walk, output: string[]): void {
  push(output, stylize(settings, '<state unknown>', 'special'))
}

function pushUnknown({ settings }: Walk, output: string[]): void {
  push(output, stylize(settings, '<items unknown>', 'special'))
}

function pushBytes(buffer: ArrayBuffer, { settings }: Walk, output: string[]): void {
  const length = bufferLength(buffer)
  const count = min(min(max(0, settings.iterableLimit), length), MAX_BYTES)
  const bytes = buffer.detached ? undefined : new Uint8Array(buffer, 0, count)
  if (!bytes) {
    push(output, stylize(settings, '(detached)', 'special'))
    return
  }
  let text = ''
  for (let index = 0; index < bytes.length; index++)
    text += `${index === 0 ? '' : ' '}${padStart(numberText(bytes[index] ?? 0, 16), 2, '0')}`
  const rest = length - bytes.length
  if (rest > 0) text += ` ... ${rest} more byte${rest > 1 ? 's' : ''}`
  push(output, `${stylize(settings, '[Uint8Contents]', 'special')}: <${text}>`)
}
