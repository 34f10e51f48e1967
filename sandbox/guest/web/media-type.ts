import {
  charAt,
  indexOf,
  join,
  mapGet,
  mapSet,
  push,
  slice,
  testPattern,
  toLowerCase,
} from './primordials.ts'
import { TOKEN } from './webidl.ts'

/** A media type's essence in lower case, with its parameters: https://mimesniff.spec.whatwg.org/#parsing-a-mime-type */
export interface MediaType {
  readonly essence: string
  readonly parameters: ReadonlyMap<string, string>
}

const SPACE = '\t\n\r '
const QUOTABLE = /^[\t\x20-\x7e\x80-\xff]*$/

/** "Extract a MIME type": a header may have come more than once, and then the last one counts. */
export function extractMediaType(header: string | null): MediaType | undefined {
  let found: MediaType | undefined
  const values = header === null ? [] : splitValues(header)
  for (let at = 0; at < values.length; at += 1) {
    const next = parseMediaType(values[at] as string)
    if (next === undefined || next.essence === '*/*') continue
    const charset = found?.essence === next.essence && mapGet(found.parameters, 'charset')
    if (typeof charset === 'string' && mapGet(next.parameters, 'charset') === undefined)
      mapSet(next.parameters as Map<string, string>, 'charset', charset)
    found = next
  }
  return found
}

export function serializeMediaType({ essence, parameters }: MediaType): string {
  const texts = [essence]
  for (const [name, value] of parameters)
    push(texts, `${name}=${testPattern(TOKEN, value) ? value : quoted(value)}`)
  return join(texts, ';')
}

function parseMediaType(input: string): MediaType | undefined {
  const text = trimmed(input)
  const slash = indexOf(text, '/')
  const end = until(text, ';', slash + 1)
  const type = slice(text, 0, slash)
  const subtype = trimmed(slice(text, slash + 1, end))
  if (slash < 1 || !testPattern(TOKEN, type) || !testPattern(TOKEN, subtype)) return undefined
  return { essence: toLowerCase(`${type}/${subtype}`), parameters: parametersOf(text, end) }
}

function parametersOf(text: string, from: number): Map<string, string> {
  const parameters = new Map<string, string>()
  let at = from
  while (at < text.length) {
    at += 1
    while (isSpace(text, at)) at += 1
    const nameEnd = until(text, ';=', at)
    const name = toLowerCase(slice(text, at, nameEnd))
    at = nameEnd
    if (charAt(text, at) !== '=') continue
    const { value, end } = parameterValue(text, at + 1)
    at = end
    if (!testPattern(TOKEN, name) || value === undefined || !testPattern(QUOTABLE, value)) continue
    if (mapGet(parameters, name) === undefined) mapSet(parameters, name, value)
  }
  return parameters
}

/** Up to the next semicolon; undefined for a value that is missing. */
function parameterValue(text: string, from: number): { value: string | undefined; end: number } {
  if (charAt(text, from) === '"') {
    const { value, end } = quotedValue(text, from + 1)
    return { value, end: until(text, ';', end) }
  }
  const end = until(text, ';', from)
  const value = trimmed(slice(text, from, end), false)
  return { value: value === '' ? undefined : value, end }
}

/** https://fetch.spec.whatwg.org/#collect-an-http-quoted-string, which may lack its end. */
function quotedValue(text: string, from: number): { value: string; end: number } {
  let value = ''
  for (let at = from; at < text.length; at += 1) {
    const char = charAt(text, at)
    if (char === '"') return { value, end: at + 1 }
    if (char === '\\' && at + 1 < text.length) at += 1
    value += charAt(text, at)
  }
  return { value, end: text.length }
}

/** At commas that are not in quotes. */
function splitValues(header: string): readonly string[] {
  const values: string[] = []
  let start = 0
  let at = until(header, ',"', 0)
  while (at < header.length) {
    if (charAt(header, at) === '"') at = quotedValue(header, at + 1).end
    else {
      push(values, slice(header, start, at))
      at += 1
      start = at
    }
    at = until(header, ',"', at)
  }
  push(values, slice(header, start))
  return values
}

const quoted = (value: string): string => {
  let text = '"'
  for (let at = 0; at < value.length; at += 1) {
    const char = charAt(value, at)
    text += char === '"' || char === '\\' ? `\\${char}` : char
  }
  return `${text}"`
}

const isSpace = (text: string, at: number): boolean =>
  at < text.length && indexOf(SPACE, charAt(text, at)) !== -1

/** Where the first of these characters is, or the end. */
function until(text: string, chars: string, from: number): number {
  let at = from
  while (at < text.length && indexOf(chars, charAt(text, at)) === -1) at += 1
  return at
}

function trimmed(text: string, isBoth = true): string {
  let start = 0
  let end = text.length
  while (isBoth && isSpace(text, start)) start += 1
  while (end > start && isSpace(text, end - 1)) end -= 1
  return slice(text, start, end)
}
