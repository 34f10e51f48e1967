/** Says what is wrong with the value of a field, or nothing. */
export type FieldRule = (value: unknown) => string | undefined

const MAX_SEGMENTS = 1_000_000
/** More than expressions of 4 KB could name; each is read before it turns out that nothing uses it. */
const MAX_PLACEHOLDERS = 4096
/** A key has two attributes at most. */
const MAX_KEY_ATTRIBUTES = 64

export const object: FieldRule = (value) => (isObject(value) ? undefined : 'must be a JSON object')

export const text: FieldRule = (value) =>
  typeof value === 'string' ? undefined : 'must be a string'

export const flag: FieldRule = (value) =>
  typeof value === 'boolean' ? undefined : 'must be true or false'

export const limit: FieldRule = whole(1, 2 ** 31 - 1)
export const segment: FieldRule = whole(0, MAX_SEGMENTS - 1)
export const totalSegments: FieldRule = whole(1, MAX_SEGMENTS)

/** An item's key, or what is taken for one. */
export const key: FieldRule = upTo(MAX_KEY_ATTRIBUTES)

/** What placeholders such as `:value` stand for. */
export const values: FieldRule = upTo(MAX_PLACEHOLDERS)

/** What placeholders such as `#name` stand for. */
export const names: FieldRule = (value) => {
  if (!isObject(value)) return 'must be a JSON object such as { "#name": "attribute" }'
  const many = values(value)
  if (many !== undefined) return many
  const wrong = Object.entries(value).find(([, name]) => typeof name !== 'string')
  return wrong && `"${wrong[0].slice(0, 255)}" must stand for a string, the name of an attribute`
}

export const list =
  (most: number): FieldRule =>
  (value) =>
    Array.isArray(value) && value.length <= most ? undefined : `must be a list of at most ${most}`

/** A list that is not empty either. */
export const someOf =
  (most: number): FieldRule =>
  (value) =>
    Array.isArray(value) && value.length > 0 && value.length <= most
      ? undefined
      : `must be a list of 1 to ${most}`

export const oneOf =
  (...words: readonly string[]): FieldRule =>
  (value) =>
    words.some((word) => word === value)
      ? undefined
      : `must be one of ${words.map((word) => `"${word}"`).join(', ')}`

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** An object of so many entries. */
export function upTo(most: number): FieldRule {
  return (value) => {
    if (!isObject(value)) return 'must be a JSON object'
    return Object.keys(value).length > most ? `must have at most ${most} entries` : undefined
  }
}

function whole(least: number, most: number): FieldRule {
  return (value) =>
    Number.isInteger(value) && Number(value) >= least && Number(value) <= most
      ? undefined
      : `must be a whole number from ${least} to ${most}`
}
