import { MARKERS } from './markers.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const MINUS = 0x2d
const ZERO = 0x30
const NINE = 0x39

/** So many significant digits are the same in a double. */
const EXACT_DIGITS = 15
/** No double is written with more significant digits. */
const MOST_DIGITS = 17
/** What a text has in it, somewhere, if one of its numbers may need more. */
const CANDIDATE = /\d[eE]|[\d.]{16}/
const TOKEN = /[-+.\deE]*/y
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/**
 * The same JSON, in which every number that a parser would change becomes `{ "$number": "…" }` with its own digits: one that a
 * double does not hold, and a whole one beyond 2^53. Most texts come back as they are.
 */
export function withExactNumbers(json: string): string {
  if (!CANDIDATE.test(json)) return json
  let exact = ''
  let copiedTo = 0
  for (let at = 0; at < json.length;) {
    const code = json.charCodeAt(at)
    if (code === QUOTE) {
      at = endOfString(json, at)
    } else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      const end = endOfNumber(json, at)
      const text = json.slice(at, end)
      if (isChanged(text)) {
        exact += `${json.slice(copiedTo, at)}{"${MARKERS.number}":"${text}"}`
        copiedTo = end
      }
      at = end
    } else {
      at += 1
    }
  }
  return copiedTo === 0 ? json : exact + json.slice(copiedTo)
}

/** Behind the quote that closes it; the end of the text where none does. */
function endOfString(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end !== -1; end = json.indexOf('"', end + 1)) {
    let slashes = 0
    while (json.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes += 1
    if (slashes % 2 === 0) return end + 1
  }
  return json.length
}

function endOfNumber(json: string, start: number): number {
  TOKEN.lastIndex = start
  return TOKEN.test(json) ? Math.max(TOKEN.lastIndex, start + 1) : start + 1
}

/** Whether a parser makes another number of a text. What is no number stays for the parser to refuse. */
function isChanged(text: string): boolean {
  const power = text.search(/[eE]/)
  if (text.length <= EXACT_DIGITS && power === -1) return false
  if (!NUMBER.test(text)) return false
  const digits = significantDigits(power === -1 ? text : text.slice(0, power))
  if (digits > MOST_DIGITS) return true
  const number = Number(text)
  // The exponent of a zero may be out of range too.
  if (isBeyondDoubles(number) || (number === 0 && power !== -1)) return true
  return digits > EXACT_DIGITS && digitsOf(text) !== digitsOf(String(number))
}

const isBeyondDoubles = (number: number): boolean =>
  !Number.isFinite(number) || (Number.isInteger(number) && !Number.isSafeInteger(number))

/** From the first digit that is not zero to the last. */
function significantDigits(mantissa: string): number {
  let start = 0
  while (start < mantissa.length && !isSignificant(mantissa.charCodeAt(start))) start += 1
  let end = mantissa.length
  while (end > start && !isSignificant(mantissa.charCodeAt(end - 1))) end -= 1
  const point = mantissa.indexOf('.')
  return end - start - (point > start && point < end ? 1 : 0)
}

const isSignificant = (code: number): boolean => code > ZERO && code <= NINE

/** Significant digits and the power of ten of the first: the same for two texts of one number. Signs are left out. */
function digitsOf(text: string): string {
  const [mantissa = '', power = '0'] = text.replace('-', '').toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const digits = whole + fraction
  const significant = digits.replace(/^0+/, '')
  const magnitude = whole.length - (digits.length - significant.length) + Number(power)
  return significant === '' ? '0' : `${trimmedEnd(significant)}e${magnitude}`
}

/** Without the zeros at its end, which a regular expression would look for from every zero on. */
function trimmedEnd(digits: string): string {
  let end = digits.length
  while (digits.charCodeAt(end - 1) === ZERO) end -= 1
  return digits.slice(0, end)
}
