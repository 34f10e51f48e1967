import type { Tag } from './table-requests.ts'
import { validationFault } from './wire-error.ts'

const MAX_TAGS = 50
const MAX_KEY = 128
const MAX_VALUE = 256
const ALLOWED = /^[\p{L}\p{N}\p{Z}_.:/=+@-]*$/u

/** Refuses tags that no table can carry. */
export function checkTags(tags: readonly Tag[]): void {
  const keys = tags.map((tag) => tag.Key)
  checkTagKeys(keys)
  for (const { Value: value } of tags) {
    if (isText(value) && ALLOWED.test(value) && lengthOf(value) <= MAX_VALUE) continue
    throw validationFault(`The Tag Value provided is invalid, Value: ${value ?? 'null'}`)
  }
  const twice = keys.find((key, at) => keys.indexOf(key) !== at)
  if (twice !== undefined) {
    throw validationFault(`Duplicate Tag Keys provided as input: Duplicate Tag Key found ${twice}`)
  }
  checkTagCount(tags.length)
}

export function checkTagKeys(keys: readonly (string | undefined)[]): void {
  for (const key of keys) {
    const length = lengthOf(key ?? '')
    if (!isText(key) || !ALLOWED.test(key) || length < 1 || length > MAX_KEY) {
      throw validationFault(`The Tag Key provided is invalid, Key: ${key ?? 'null'}`)
    }
    if (key.startsWith('aws:')) {
      throw validationFault(`Tag Key cannot be prefixed with aws:, Key: ${key}`)
    }
  }
}

export function checkTagCount(count: number): void {
  if (count <= MAX_TAGS) return
  throw validationFault('Number of Tags exceed the current limit for the provided ResourceArn')
}

const isText = (given: unknown): given is string => typeof given === 'string'

/** In characters, not in UTF-16 units. */
const lengthOf = (given: string): number => Array.from(given).length
