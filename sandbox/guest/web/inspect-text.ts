import {
  codePointAt,
  fromCodePoint,
  numberText,
  toUpperCase,
  functionSource,
  indexOf,
  testPattern,
  padStart,
  reflectGet,
  objectIs,
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
  for (let index = 0; index < text.length; index++) {
    const point = codePointAt(text, index) ?? 0
    if (point > 0xffff) index++
    result += escapePoint(point, mark)
  }
  return `${mark}${result}${mark}`
}

export function formatKey(key: string | symbol): string {
  if (typeof key === 'symbol') return symbolText(key)
  return testPattern(IDENTIFIER, key) ? key : quote(key)
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

function escapePoint(point: number, mark: string): string {
  const char = fromCodePoint(point)
  if (char === mark && mark === "'") return "\\'"
  const short = SHORT_ESCAPES[point]
  if (short !== undefined) return short
  if (point >> 11 === 0x1b) return `\\u${numberText(point, 16)}`
  const control = point < 0x20 || (point >= 0x7f && point <= 0x9f)
  return control ? `\\x${padStart(toUpperCase(numberText(point, 16)), 2, '0')}` : char
}
