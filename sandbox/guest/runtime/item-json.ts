import { encodeBase64 } from '#sandbox/guest/web/base64.ts'
import {
  isFinite,
  jsonStringifyWith,
  push,
  setForEach,
  toTag,
  toText,
  TypeErrorClass,
} from '#sandbox/guest/web/primordials.ts'

import { bytesFrom } from './bytes.ts'

/**
 * JSON text of a table's input. What JSON has no word for is written with its marker: `Set`, bytes and `BigInt`; what it
 * would lose without a word is refused: `Map`, `NaN` and the infinities.
 */
export const itemJson = (input: unknown): string => jsonStringifyWith(input, marked) ?? 'null'

function marked(name: string, value: unknown): unknown {
  if (typeof value === 'object' && value !== null) return markedObject(name, value)
  if (typeof value === 'bigint') return { $number: toText(value) }
  if (typeof value === 'number' && !isFinite(value)) {
    throw new TypeErrorClass(`"${name}" is ${value}: a table keeps finite numbers only`)
  }
  return value
}

function markedObject(name: string, value: object): unknown {
  const tag = toTag(value)
  if (tag === '[object Set]') {
    const members: unknown[] = []
    setForEach(value, (member) => push(members, member))
    return { $set: members }
  }
  if (tag === '[object Map]') {
    throw new TypeErrorClass(`"${name}" is a Map: a table keeps plain objects`)
  }
  const bytes = bytesFrom(value)
  return bytes ? { $binary: encodeBase64(bytes) } : value
}
