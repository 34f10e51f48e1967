import { AppError } from '#base/app-error.ts'

/** Nesting of a request body, its own object included. */
export const MAX_DEPTH = 128
/** Values of a text that the service itself parses: to read each takes longer than its parser does. */
const MAX_VALUES = 100_000

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const COMMA = 0x2c

/** Refuses nesting that would make a parser or a function recurse too far. Reads the text once; no parse. */
export function boundDepth(text: string, limit = MAX_DEPTH): void {
  // Every level opens and closes: a shorter text cannot be valid and too deep.
  if (text.length <= limit * 2) return
  if (isDeeper(text, limit)) {
    throw new AppError('ValidationError', `The body is nested deeper than ${limit} levels`, {
      fields: { limit },
    })
  }
}

/** For text that the service parses and walks: refuses what would keep it from its other callers. */
export function boundJson(text: string, depth = MAX_DEPTH): void {
  boundValues(text)
  boundDepth(text, depth)
}

/** Refuses more values than the service walks in one go. Reads the text once; no parse. */
export function boundValues(text: string): void {
  // Every value but the last is followed by a comma.
  if (text.length <= MAX_VALUES || !hasMoreValues(text)) return
  throw new AppError('ValidationError', `The body holds more than ${MAX_VALUES} values`, {
    fields: { limit: MAX_VALUES },
  })
}

function hasMoreValues(text: string): boolean {
  let values = 1
  for (let at = 0; at < text.length && values <= MAX_VALUES; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === COMMA) values += 1
  }
  return values > MAX_VALUES
}

/** For text that is not JSON the answer may be either, but it always comes in one pass. */
export function isDeeper(text: string, limit: number): boolean {
  let depth = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = endOfString(text, at)
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      depth += 1
      if (depth > limit) return true
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      depth -= 1
    }
  }
  return false
}

/** `indexOf` runs over long strings many times faster than a loop. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end === -1 ? text.length : end
}

function isEscaped(text: string, at: number): boolean {
  let slashes = 0
  while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes += 1
  return slashes % 2 === 1
}
