/** An item, or a key of one, as the API gives it: JSON, with `{ "$number": "…" }` for numbers that a double does not hold. */
export type Item = Readonly<Record<string, unknown>>

/** Strings and numbers: what is in a string is not read as a number. */
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
/** So many characters of a number without an exponent are the same in a double. */
const EXACT_LENGTH = 15

/** Reads JSON and keeps all digits of its numbers. Throws `SyntaxError`. */
export const parseExact = (text: string): unknown =>
  JSON.parse(text.replaceAll(TOKEN, (token) => (isKept(token) ? token : `{"$number":"${token}"}`)))

const isKept = (token: string): boolean =>
  token.startsWith('"') || (token.length <= EXACT_LENGTH && !/e/i.test(token))

export interface WriteOptions {
  /** Lines and steps of two spaces. */
  readonly isPretty?: boolean
  /** Names in one order: the same text for the same value. */
  readonly isSorted?: boolean
}

/** Writes a value of an item as JSON, with all digits of its numbers. */
export function writeExact(value: unknown, options: WriteOptions = {}, depth = 0): string {
  if (Array.isArray(value)) {
    const parts = value.map((each) => writeExact(each, options, depth + 1))
    return framed('[]', parts, options, depth)
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const digits = markerContent(value, '$number')
  return typeof digits === 'string' ? digits : writeObject({ ...value }, options, depth)
}

function writeObject(fields: Item, options: WriteOptions, depth: number): string {
  const map = markerContent(fields, '$map')
  if (typeof map === 'object' && map !== null) {
    const content = writeItem({ ...map }, options, depth + 1)
    return framed('{}', [`"$map":${options.isPretty ? ' ' : ''}${content}`], options, depth)
  }
  return writeItem(fields, options, depth)
}

/** Writes an item or a map, whose own names are never markers. */
export function writeItem(item: Item, options: WriteOptions = {}, depth = 0): string {
  const names = Object.keys(item)
  if (options.isSorted) names.sort()
  const parts = names.map((name) => {
    const value = writeExact(item[name], options, depth + 1)
    return `${JSON.stringify(name)}:${options.isPretty ? ' ' : ''}${value}`
  })
  return framed('{}', parts, options, depth)
}

function framed(
  braces: '[]' | '{}',
  parts: readonly string[],
  { isPretty = false }: WriteOptions,
  depth: number,
): string {
  const [open, close] = braces
  if (!isPretty || parts.length === 0) return `${open}${parts.join(',')}${close}`
  const step = '  '.repeat(depth)
  return `${open}\n${parts.map((part) => `${step}  ${part}`).join(',\n')}\n${step}${close}`
}

/** What an object with that one name has, if it is one. */
export function markerContent(value: unknown, marker: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  const [name, second] = Object.keys(value)
  return name === marker && second === undefined ? Reflect.get(value, marker) : undefined
}

/** Whether two values of attributes are the same, whatever the order of their names. */
export const isSameValue = (one: unknown, other: unknown): boolean =>
  one === undefined || other === undefined
    ? one === other
    : writeExact(one, { isSorted: true }) === writeExact(other, { isSorted: true })
