import {
  charCodeAt,
  numberText,
  toUpperCase,
  functionSource,
  indexOf,
  testPattern,
  padStart,
  reflectGet,
  objectIs,
  slice,
  startsWith,
  symbolText,
} from './primordials.ts'

const IDENTIFIER = /^[a-zA-Z_][a-zA-Z_0-9]*$/
const PLAIN = /^[^\p{Cc}\p{Cs}'\\]*$/u
const SHORT_ESCAPES: Readonly<Record<number, string>> = {
  8: '\\b',
  9: '\\t',
  10: '\\n',
  12: '\\f',
  13: '\\r',
  92: '\\\\',
}

/** A string as source text, in the quotes that need the fewest escapes. */
export function quote(text: string): string {
  const mark = quoteMark(text)
  if (testPattern(PLAIN, text)) return `${mark}${text}${mark}`
  let result = ''
  let copied = 0
  for (let index = 0; index < text.length; index++) {
    const code = charCodeAt(text, index)
    if (isPair(text, index)) {
      index++
      continue
    }
    const escaped = escapeUnit(code, charCodeAt(mark, 0))
    if (escaped === undefined) continue
    result += slice(text, copied, index) + escaped
    copied = index + 1
  }
  return `${mark}${result}${slice(text, copied)}${mark}`
}

export function formatKey(key: string | symbol): string {
  if (typeof key === 'symbol') return formatSymbol(key)
  return testPattern(IDENTIFIER, key) ? key : quote(key)
}

export function formatSymbol(symbol: symbol): string {
  return symbolText(symbol)
}

export const formatNumber = (value: number): string => (objectIs(value, -0) ? '-0' : `${value}`)

/** `[Function: name]`, `[class Name extends Base]`. */
export function formatFunction(value: Function, tag: string): string {
  const name = ownText(value, 'name')
  const source = functionSource(value)
  if (startsWith(source, 'class')) {
    const parent: unknown = Object.getPrototypeOf(value)
    const base = typeof parent === 'function' ? ownText(parent, 'name') : ''
    return `[class ${name === '' ? '(anonymous)' : name}${base === '' ? '' : ` extends ${base}`}]`
  }
  const kind = indexOf(tag, 'Function') === -1 ? 'Function' : tag
  return name === '' ? `[${kind} (anonymous)]` : `[${kind}: ${name}]`
}

function ownText(value: object, key: string): string {
  const text: unknown = reflectGet(value, key)
  return typeof text === 'string' ? text : ''
}

function quoteMark(text: string): string {
  if (indexOf(text, "'") === -1) return "'"
  if (indexOf(text, '"') === -1) return '"'
  return indexOf(text, '`') === -1 && indexOf(text, '${') === -1 ? '`' : "'"
}

function isPair(text: string, index: number): boolean {
  return charCodeAt(text, index) >> 10 === 0x36 && charCodeAt(text, index + 1) >> 10 === 0x37
}

function escapeUnit(code: number, mark: number): string | undefined {
  if (code === mark && mark === 0x27) return "\\'"
  const short = SHORT_ESCAPES[code]
  if (short !== undefined) return short
  if (code >> 11 === 0x1b) return `\\u${numberText(code, 16)}`
  const control = code < 0x20 || (code >= 0x7f && code <= 0x9f)
  return control ? `\\x${padStart(toUpperCase(numberText(code, 16)), 2, '0')}` : undefined
}
