import type { Settings } from './inspect-options.ts'
import { filter, getOwnPropertyDescriptor, ownKeys, push } from './primordials.ts'

const MAX_KEYS = 1000
/** Longer lists are not searched for properties. */
const MAX_SEARCH = 10_000

/** The properties of an object that are shown. */
export function keysOf(value: object, { showHidden }: Settings): (string | symbol)[] {
  const keys: (string | symbol)[] = []
  const all = ownKeys(value)
  for (let index = 0; index < all.length && keys.length <= MAX_KEYS; index++) {
    const key = all[index] as string | symbol
    if (showHidden || getOwnPropertyDescriptor(value, key)?.enumerable) push(keys, key)
  }
  return keys
}

/** The properties of a list that are not its items. */
export function indexedKeys(
  value: object,
  size: number,
  { showHidden }: Settings,
): (string | symbol)[] {
  if (size > MAX_SEARCH) return []
  return filter(
    ownKeys(value),
    (key) =>
      !isIndex(key) && (showHidden || getOwnPropertyDescriptor(value, key)?.enumerable === true),
  )
}

function isIndex(key: string | symbol): boolean {
  if (typeof key === 'symbol') return false
  const index = Number(key)
  return index >= 0 && index < 2 ** 32 - 1 && `${index}` === key
}
