import type { Contents, Items, Walk } from './inspect-kinds.ts'
import {
  bufferLength,
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
): { readonly size?: number; readonly push: Contents } | undefined {
  try {
    return hasOwn(CONTENTS, type) ? CONTENTS[type]?.(value) : undefined
  } catch {
    return undefined
  }
}

const CONTENTS: Readonly<Record<string, (value: object) => { size?: number; push: Contents }>> = {
  Array: (value) => ({ push: (walk, output) => pushItems(walk, value, output) }),
  Map: (value) => ({
    size: mapSize(value),
    push: (walk, output) => {
      let count = 0
      mapForEach(value, (item, key) => {
        if (count++ < MAX_ITEMS) push(output, `${walk.show(key)} => ${walk.show(item)}`)
      })
      return pushRest(output, count)
    },
  }),
  Set: (value) => ({
    size: setSize(value),
    push: (walk, output) => {
      let count = 0
      setForEach(value, (item) => {
        if (count++ < MAX_ITEMS) push(output, walk.show(item))
      })
      return pushRest(output, count)
    },
  }),
  ArrayBuffer: (value) => {
    const byteLength = bufferLength(value)
    return {
      push: (_walk, output) => {
        push(output, `[Uint8Contents]: <${hexBytes(value as ArrayBuffer, byteLength)}>`)
        push(output, `[byteLength]: ${byteLength}`)
        return undefined
      },
    }
  },
  DataView: (value) => {
    const view = value as DataView
    return {
      push: (walk, output) => {
        push(output, `[byteLength]: ${view.byteLength}`)
        push(output, `[byteOffset]: ${view.byteOffset}`)
        push(output, `[buffer]: ${walk.show(view.buffer)}`)
        return undefined
      },
    }
  },
  WeakMap: () => ({ push: pushUnknown }),
  WeakSet: () => ({ push: pushUnknown }),
}

/** The properties of a list that are not its items. */
export function indexedKeys(value: object, size: number): (string | symbol)[] {
  const keys: (string | symbol)[] = []
  if (size > MAX_SEARCH || (isView(value) && size > 0)) return keys
  const all = ownKeys(value)
  for (let index = 0; index < all.length; index++) {
    const key = all[index]
    if (key === undefined || (typeof key === 'string' && isIndex(key))) continue
    if (getOwnPropertyDescriptor(value, key)?.enumerable) push(keys, key)
  }
  return keys
}

function pushItems(walk: Walk, value: object, output: string[]): Items {
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
  return { items: { count, numbers } }
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

function pushUnknown(_walk: Walk, output: string[]): undefined {
  push(output, '<items unknown>')
}

function hexBytes(buffer: ArrayBuffer, length: number): string {
  const bytes = new Uint8Array(buffer, 0, min(length, SHOWN_BYTES))
  let text = ''
  for (let index = 0; index < bytes.length; index++)
    text += `${index === 0 ? '' : ' '}${padStart(numberText(bytes[index] ?? 0, 16), 2, '0')}`
  const rest = length - bytes.length
  return rest > 0 ? `${text} ... ${rest} more byte${rest > 1 ? 's' : ''}` : text
}

function isIndex(key: string): boolean {
  const index = Number(key)
  return index >= 0 && index < 2 ** 32 - 1 && `${index}` === key
}
