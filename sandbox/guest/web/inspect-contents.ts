import type { Contents, Items, Walk } from './inspect-kinds.ts'
import {
  bufferLength,
  filter,
  getOwnPropertyDescriptor,
  hasOwn,
  isArray,
  isView,
  mapForEach,
  mapSize,
  min,
  numberText,
  ownKeys,
  padStart,
  push,
  setForEach,
  setSize,
} from './primordials.ts'

const MAX_ITEMS = 100
/** Longer lists are not searched for properties, nor for the end of a run of holes. */
const MAX_SEARCH = 10_000
const SHOWN_BYTES = 50

/** What a built-in of this tag holds, with its size where the title tells it; undefined when the tag is made up. */
export function contentsOf(
  type: string,
  value: object,
): { readonly size?: number | undefined; readonly push: Contents } | undefined {
  const pushContents = hasOwn(CONTENTS, type) ? CONTENTS[type] : undefined
  if (pushContents === undefined) return undefined
  try {
    // Throws for a made-up tag, as the sizes do.
    if (type === 'ArrayBuffer') bufferLength(value)
    const size = hasOwn(SIZES, type) ? SIZES[type]?.(value) : undefined
    return { size, push: (walk, output) => pushContents(value, walk, output) }
  } catch {
    return undefined
  }
}

const SIZES: Readonly<Record<string, (value: object) => number>> = { Map: mapSize, Set: setSize }

const CONTENTS: Readonly<
  Record<string, (value: object, ...rest: Parameters<Contents>) => ReturnType<Contents>>
> = {
  Array: pushItems,
  Map: (map, walk, output) => {
    mapForEach(map, (item, key) => {
      if (output.length < MAX_ITEMS) push(output, `${walk.show(key)} => ${walk.show(item)}`)
    })
    return pushRest(output, mapSize(map))
  },
  Set: (set, walk, output) => {
    setForEach(set, (item) => {
      if (output.length < MAX_ITEMS) push(output, walk.show(item))
    })
    return pushRest(output, setSize(set))
  },
  ArrayBuffer: (buffer, _walk, output) => {
    push(output, `[Uint8Contents]: <${hexBytes(buffer as ArrayBuffer)}>`)
    push(output, `[byteLength]: ${bufferLength(buffer)}`)
  },
  DataView: (value, walk, output) => {
    const view = value as DataView
    push(output, `[byteLength]: ${view.byteLength}`)
    push(output, `[byteOffset]: ${view.byteOffset}`)
    push(output, `[buffer]: ${walk.show(view.buffer)}`)
  },
  WeakMap: pushUnknown,
  WeakSet: pushUnknown,
}

/** The properties of a list that are not its items. */
export function indexedKeys(value: object, size: number): (string | symbol)[] {
  if (size > MAX_SEARCH || (isView(value) && size > 0)) return []
  return filter(
    ownKeys(value),
    (key) => !isIndex(key) && getOwnPropertyDescriptor(value, key)?.enumerable === true,
  )
}

function pushItems(value: object, walk: Walk, output: string[]): Items {
  const { length } = value as { length: number }
  let index = 0
  let numbers = true
  while (index < length && output.length < MAX_ITEMS && walk.room > 0) {
    const descriptor = getOwnPropertyDescriptor(value, `${index}`)
    if (descriptor === undefined) {
      const holes = countHoles(value, index, length)
      push(output, `<${holes} empty item${holes > 1 ? 's' : ''}>`)
      numbers = false
      index += holes
      continue
    }
    const item: unknown = descriptor.value
    numbers &&= typeof item === 'number' || typeof item === 'bigint'
    push(output, descriptor.get === undefined ? walk.show(item) : '[Getter]')
    index++
  }
  const count = output.length
  pushRest(output, length, index)
  return { count, numbers }
}

function countHoles(value: object, from: number, length: number): number {
  const end = min(length, from + MAX_SEARCH)
  let index = from
  while (index < end && getOwnPropertyDescriptor(value, `${index}`) === undefined) index++
  return index === end && isArray(value) && end < length ? length - from : index - from
}

function pushRest(output: string[], total: number, shown: number = MAX_ITEMS): undefined {
  const rest = total - shown
  if (rest > 0) push(output, `... ${rest} more item${rest > 1 ? 's' : ''}`)
}

function pushUnknown(_value: object, _walk: Walk, output: string[]): undefined {
  push(output, '<items unknown>')
}

function hexBytes(buffer: ArrayBuffer): string {
  const length = bufferLength(buffer)
  const bytes = new Uint8Array(buffer, 0, min(length, SHOWN_BYTES))
  let text = ''
  for (let index = 0; index < bytes.length; index++)
    text += `${index === 0 ? '' : ' '}${padStart(numberText(bytes[index] ?? 0, 16), 2, '0')}`
  const rest = length - bytes.length
  return rest > 0 ? `${text} ... ${rest} more byte${rest > 1 ? 's' : ''}` : text
}

function isIndex(key: string | symbol): boolean {
  if (typeof key === 'symbol') return false
  const index = Number(key)
  return index >= 0 && index < 2 ** 32 - 1 && `${index}` === key
}
