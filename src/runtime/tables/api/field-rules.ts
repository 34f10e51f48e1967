import { isJsonObject, type JsonObject } from '#base/json-object.ts'

/** Says what is wrong with the value of a field, or nothing. A value without a fault is a `Value`. */
export interface FieldRule<Value = unknown> {
  (value: unknown): string | undefined
  readonly accepted?: Value
}

const MAX_SEGMENTS = 1_000_000
/** More than expressions of 4 KB could name; each is read before it turns out that nothing uses it. */
const MAX_PLACEHOLDERS = 4096
/** A key has two attributes at most. */
const MAX_KEY_ATTRIBUTES = 64

export const objectRule: FieldRule<JsonObject> = (value) =>
  isJsonObject(value) ? undefined : 'must be a JSON object'

export const textRule: FieldRule<string> = (value) =>
  typeof value === 'string' ? undefined : 'must be a string'

export const booleanRule: FieldRule<boolean> = (value) =>
  typeof value === 'boolean' ? undefined : 'must be true or false'

export const limitRule = wholeNumberRule(1, 2 ** 31 - 1)
export const segmentRule = wholeNumberRule(0, MAX_SEGMENTS - 1)
export const totalSegmentsRule = wholeNumberRule(1, MAX_SEGMENTS)

/** An item's key, or what is taken for one. */
export const keyRule = boundedObjectRule(MAX_KEY_ATTRIBUTES)

/** What placeholders such as `:value` stand for. */
export const valuesRule = boundedObjectRule(MAX_PLACEHOLDERS)

/** What placeholders such as `#name` stand for. */
export const namesRule: FieldRule<Readonly<Record<string, string>>> = (value) => {
  if (!isJsonObject(value)) return 'must be a JSON object such as { "#name": "attribute" }'
  const many = valuesRule(value)
  if (many !== undefined) return many
  const wrong = Object.entries(value).find(([, name]) => typeof name !== 'string')
  return wrong && `"${wrong[0].slice(0, 255)}" must stand for a string, the name of an attribute`
}

export const listRule =
  (most: number): FieldRule<readonly unknown[]> =>
  (value) =>
    Array.isArray(value) && value.length <= most ? undefined : `must be a list of at most ${most}`

/** A list that is not empty either. */
export const nonEmptyListRule =
  (most: number): FieldRule<readonly unknown[]> =>
  (value) =>
    Array.isArray(value) && value.length > 0 && value.length <= most
      ? undefined
      : `must be a list of 1 to ${most}`

export const enumRule =
  <const Words extends readonly string[]>(...words: Words): FieldRule<Words[number]> =>
  (value) =>
    words.some((word) => word === value)
      ? undefined
      : `must be one of ${words.map((word) => `"${word}"`).join(', ')}`

/** An object of so many entries. */
export function boundedObjectRule(most: number): FieldRule<JsonObject> {
  return (value) => {
    if (!isJsonObject(value)) return 'must be a JSON object'
    return Object.keys(value).length > most ? `must have at most ${most} entries` : undefined
  }
}

function wholeNumberRule(least: number, most: number): FieldRule<number> {
  return (value) =>
    Number.isInteger(value) && Number(value) >= least && Number(value) <= most
      ? undefined
      : `must be a whole number from ${least} to ${most}`
}
