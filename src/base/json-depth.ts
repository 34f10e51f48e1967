import { AppError } from './app-error.ts'

/** Nesting of a request body, its own object included. */
export const MAX_DEPTH = 128
/** Values of a text that the service itself parses: to read each takes longer than its parser does. */
const MAX_VALUES = 100_000
/** Fields of objects among those values. Reading one takes as long as reading three members of a list. */
const MAX_FIELDS = 25_000

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_ARRAY = 0x5b
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const COMMA = 0x2c
const COLON = 0x3a
const BRACE_BIT = 0x20

interface Bounds {
  readonly depth: number
  readonly values: number
  readonly fields: number
}

/** Values of a text, and fields of objects among them. */
export interface ValueBounds {
  readonly values: number
  readonly fields: number
}

const VALUE_BOUNDS: ValueBounds = { values: MAX_VALUES, fields: MAX_FIELDS }

/** A bound that no text reaches; a small integer, because engines compare those fastest. */
const NONE = 0x7fffffff

/** Refuses nesting that would make a parser or a function recurse too far. Reads the text once; no parse. */
export function checkDepth(text: string, limit = MAX_DEPTH): void {
  // Every level opens and closes: a shorter text cannot be valid and too deep.
  if (text.length > limit * 2) refuse(text, { depth: limit, values: NONE, fields: NONE })
}

/** Checks a text that the service itself will parse and walk: a larger one would keep it from its other callers. Reads the text once. */
export function checkJsonSize(text: string, depth = MAX_DEPTH): void {
  // Every field has three characters, and every value but the last is followed by a comma.
  if (text.length > MAX_FIELDS * 3) refuse(text, { depth, ...VALUE_BOUNDS })
  else checkDepth(text, depth)
}

/** Refuses more values than the service walks in one go. Reads the text once; no parse. */
export function checkValueCount(text: string, bounds = VALUE_BOUNDS): void {
  if (text.length > bounds.fields * 3) refuse(text, { depth: NONE, ...bounds })
}

/** Reads the text once. Gives either answer for a text that is not JSON. */
export const isNestedDeeper = (text: string, limit: number): boolean =>
  exceeded(text, { depth: limit, values: NONE, fields: NONE }) === 'depth'

function refuse(text: string, bounds: Bounds): void {
  const bound = exceeded(text, bounds)
  if (bound === undefined) return
  const limit = bounds[bound]
  const message =
    bound === 'depth'
      ? `The body is nested deeper than ${limit} levels`
      : `The body holds more than ${limit} ${bound}`
  throw new AppError('ValidationError', message, { fields: { limit } })
}

/** The bound that the text passes first. */
function exceeded(text: string, bounds: Bounds): keyof Bounds | undefined {
  const { depth: maxDepth, values: maxValues, fields: maxFields } = bounds
  let depth = 0
  let values = 1
  let fields = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code >= OPEN_ARRAY) {
      depth += levelOf(code)
      if (depth > maxDepth) return 'depth'
    } else if (code === QUOTE) {
      at = endOfString(text, at)
    } else if (code === COMMA) {
      values += 1
      if (values > maxValues) return 'values'
    } else if (code === COLON) {
      fields += 1
      if (fields > maxFields) return 'fields'
    }
  }
  return undefined
}

/** Brackets and braces differ in one bit, and no other character has the rest of theirs. */
function levelOf(code: number): number {
  const brace = code | BRACE_BIT
  if (brace === OPEN_OBJECT) return 1
  return brace === CLOSE_OBJECT ? -1 : 0
}

/** `indexOf` runs over long strings many times faster than a loop; where quotes are escaped there may be very many. */
function endOfString(text: string, start: number): number {
  const end = text.indexOf('"', start + 1)
  if (end === -1) return text.length
  return text.charCodeAt(end - 1) === BACKSLASH ? endOfEscaped(text, start) : end
}

function endOfEscaped(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at
    if (code === BACKSLASH) at += 1
  }
  return text.length
}

/** The JSON text of a value; undefined when it is nested deeper than `depth`. */
export function jsonTextWithin(value: unknown, depth: number): string | undefined {
  try {
    const text = JSON.stringify(value) ?? 'null'
    return isNestedDeeper(text, depth) ? undefined : text
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
