import type { Settings } from './inspect-options.ts'
import { stylize, withoutStyles } from './inspect-style.ts'
import {
  charCodeAt,
  codePointAt,
  indexOf,
  join,
  normalizeText,
  numberText,
  objectIs,
  padStart,
  push,
  repeat,
  slice,
  split,
  symbolDescription,
  symbolText,
  testPattern,
} from './primordials.ts'

const IDENTIFIER = /^[a-zA-Z_][a-zA-Z_0-9]*$/
const SYMBOL_NAME = /^[a-zA-Z_][a-zA-Z_.0-9]*$/
/** What of a string has to be escaped, whatever quotes it is in. */
// oxlint-disable-next-line no-control-regex -- these are what a log must not show as they are
const CONTROL = /[\x00-\x1f\x7f-\x9f]/
const ASCII = /^[\x20-\x7e]*$/
const MIN_BROKEN_LENGTH = 16
const SHORT_ESCAPES: Readonly<Record<number, string>> = {
  8: '\\b',
  9: '\\t',
  10: '\\n',
  11: '\\v',
  12: '\\f',
  13: '\\r',
}

/** A string as source text, in the first of the quotes that it does not hold. */
export function quote(text: string, { escapeSequences, quotes }: Settings): string {
  const mark = quoteMark(text, quotes)
  const escapes = escapeSequences && testPattern(CONTROL, text)
  if (!escapes && indexOf(text, '\\') === -1 && indexOf(text, mark) === -1)
    return mark + text + mark
  let result = ''
  for (let index = 0; index < text.length; index++) {
    const char = text[index] as string
    if (char === mark || char === '\\') result += `\\${char}`
    else result += escapes ? escapeControl(char) : char
  }
  return mark + result + mark
}

/** A string in quotes; one that is too long for a line is broken after its line feeds. */
export function formatString(value: string, indentation: number, settings: Settings): string {
  const rest = value.length - settings.strAbbreviateSize
  const text = rest > 0 ? slice(value, 0, settings.strAbbreviateSize) : value
  const more = rest > 0 ? `... ${rest} more character${rest > 1 ? 's' : ''}` : ''
  const show = (part: string): string => stylize(settings, quote(part, settings), 'string')
  const room = settings.breakLength - indentation - 4
  if (settings.compact === true || text.length <= MIN_BROKEN_LENGTH || text.length <= room)
    return show(text) + more
  const lines = split(text, '\n')
  const quoted: string[] = []
  for (let index = 0; index < lines.length; index++) {
    const line = index < lines.length - 1 ? `${lines[index]}\n` : `${lines[index]}`
    if (line !== '') push(quoted, show(line))
  }
  return join(quoted, ` +\n${repeat(' ', indentation + 2)}`) + more
}

export function formatSymbol(symbol: symbol, settings: Settings): string {
  const name = symbolDescription(symbol)
  if (name === undefined || testPattern(SYMBOL_NAME, name)) return symbolText(symbol)
  return `Symbol(${quote(name, settings)})`
}

export function formatKey(key: string | symbol, enumerable: boolean, settings: Settings): string {
  if (typeof key === 'symbol') {
    const name = stylize(settings, symbolText(key), 'symbol')
    return enumerable ? name : `[${name}]`
  }
  if (key === '__proto__') return "['__proto__']"
  if (!enumerable) return `[${escapeControls(key)}]`
  return testPattern(IDENTIFIER, key) ? key : stylize(settings, quote(key, settings), 'string')
}

export const formatNumber = (value: number): string => (objectIs(value, -0) ? '-0' : `${value}`)

/** Columns that a terminal needs for a text. */
export function widthOf(text: string, settings: Settings): number {
  const plain = settings.colors ? withoutStyles(text) : text
  if (testPattern(ASCII, plain)) return plain.length
  const normal = normalizeText(plain)
  let width = 0
  for (let index = 0; index < normal.length; index++) {
    const point = codePointAt(normal, index) ?? 0
    if (point > 0xffff) index++
    width += pointWidth(point)
  }
  return width
}

/** East Asian wide characters and emoji, roughly: https://www.unicode.org/reports/tr11. */
const WIDE: readonly (readonly [first: number, last: number])[] = [
  [0x1100, 0x115f],
  [0x2329, 0x232a],
  [0x2e80, 0x303e],
  [0x3040, 0x3247],
  [0x3250, 0x4dbf],
  [0x4e00, 0xa4c6],
  [0xa960, 0xa97c],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6b],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x1b000, 0x1b001],
  [0x1f200, 0x1f251],
  [0x1f300, 0x1f64f],
  [0x20000, 0x3fffd],
]
/** Controls, combining marks and what joins or varies its neighbour. */
const NARROW: readonly (readonly [first: number, last: number])[] = [
  [0, 0x1f],
  [0x7f, 0x9f],
  [0x300, 0x36f],
  [0x200b, 0x200f],
  [0x20d0, 0x20ff],
  [0xfe00, 0xfe0f],
  [0xfe20, 0xfe2f],
  [0xe0100, 0xe01ef],
]

function pointWidth(point: number): number {
  if (isIn(WIDE, point)) return 2
  return isIn(NARROW, point) ? 0 : 1
}

function isIn(ranges: typeof WIDE, point: number): boolean {
  for (let index = 0; index < ranges.length; index++) {
    const range = ranges[index] as (typeof WIDE)[number]
    if (point >= range[0] && point <= range[1]) return true
  }
  return false
}

function quoteMark(text: string, quotes: readonly string[]): string {
  for (let index = 0; index < quotes.length; index++) {
    const mark = `${quotes[index]}`
    if (indexOf(text, mark) === -1) return mark
  }
  return `${quotes[0]}`
}

function escapeControls(text: string): string {
  if (!testPattern(CONTROL, text)) return text
  let result = ''
  for (let index = 0; index < text.length; index++) result += escapeControl(text[index] as string)
  return result
}

function escapeControl(char: string): string {
  const code = charCodeAt(char, 0)
  const short = SHORT_ESCAPES[code]
  if (short !== undefined) return short
  const control = code < 0x20 || (code >= 0x7f && code <= 0x9f)
  return control ? `\\x${padStart(numberText(code, 16), 2, '0')}` : char
}
