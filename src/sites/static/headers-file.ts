import { type PathPattern, matchPath, parsePathPattern } from './path-pattern.ts'
import { isReservedPath } from './reserved-paths.ts'
import { type RuleLine, ruleFault, ruleLines } from './rules-file.ts'

export const HEADERS_FILE = '_headers'
const MAX_RULES = 200
const MAX_HEADERS_PER_RULE = 50
const MAX_BYTES_PER_RULE = 8192
const NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/
const VALUE = /^[\x20-\x7e]*$/

/** Headers that the service, the connection or a sign-in depends on. */
const FORBIDDEN = new Set([
  'accept-ranges',
  'age',
  'allow',
  'alt-svc',
  'connection',
  'content-encoding',
  'content-length',
  'content-range',
  'date',
  'etag',
  'keep-alive',
  'last-modified',
  'location',
  'proxy-authenticate',
  'server',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'vary',
  'www-authenticate',
  'x-request-id',
])

/** One path of `_headers` and the lines below it, as the manifest keeps it. */
export interface HeaderRule {
  readonly line: number
  readonly path: string
  /** Names in lower case; null removes one that is sent otherwise. */
  readonly headers: readonly (readonly [name: string, value: string | null])[]
}

/** Reads a file of the kind that Netlify made common. Throws `InvalidArtifact` with the line of the first fault. */
export function parseHeaderRules(text: string): HeaderRule[] {
  const rules: { line: number; path: string; headers: Map<string, string | null> }[] = []
  for (const line of ruleLines(HEADERS_FILE, text)) {
    const current = rules.at(-1)
    if (!line.isIndented) {
      rules.push({ line: line.number, path: parsePath(line), headers: new Map() })
      if (rules.length > MAX_RULES) throw fault(line, `there are more than ${MAX_RULES} paths`)
    } else if (current === undefined) {
      throw fault(line, 'a header needs a path above it, which begins its line with "/"')
    } else addHeader(line, current.headers)
  }
  const empty = rules.find(({ headers }) => headers.size === 0)
  if (empty) throw ruleFault(HEADERS_FILE, empty.line, `"${empty.path}" has no headers below it`)
  return rules.map(({ headers, ...rule }) => ({ ...rule, headers: [...headers] }))
}

/** The rules of one deployment, ready to be asked. */
export class HeaderRules {
  readonly #rules: readonly { readonly pattern: PathPattern; readonly rule: HeaderRule }[]

  constructor(rules: readonly HeaderRule[]) {
    this.#rules = rules.flatMap((rule) => {
      const pattern = parsePathPattern(rule.path)
      return typeof pattern === 'string' ? [] : [{ pattern, rule }]
    })
  }

  /** Changes `headers` as every rule says that matches the decoded path: the last one in the file has the last word. */
  apply(path: string, headers: Map<string, string>): void {
    for (const { pattern, rule } of this.#rules) {
      if (!matchPath(pattern, path)) continue
      for (const [name, value] of rule.headers) {
        if (value === null) headers.delete(name)
        else headers.set(name, value)
      }
    }
  }
}

function parsePath(line: RuleLine): string {
  const { text } = line
  if (/^[a-z]+:\/\//i.test(text)) {
    throw fault(line, `"${text}" names a host: give a path of this site, from "/" on`)
  }
  const pattern = parsePathPattern(text)
  if (typeof pattern === 'string') throw fault(line, `"${text}" ${pattern}`)
  if (isReservedPath(`/${pattern.segments[0] ?? ''}`)) {
    throw fault(line, `"${text}" is a path of the service itself: its headers cannot be changed`)
  }
  return text
}

function addHeader(line: RuleLine, headers: Map<string, string | null>): void {
  const [name, value] = parseHeader(line)
  const before = headers.get(name)
  headers.set(name, typeof before === 'string' && value !== null ? `${before}, ${value}` : value)
  if (headers.size > MAX_HEADERS_PER_RULE) {
    throw fault(line, `there are more than ${MAX_HEADERS_PER_RULE} headers for one path`)
  }
  const bytes = [...headers].reduce(
    (sum, [each, text]) => sum + each.length + (text?.length ?? 0),
    0,
  )
  if (bytes > MAX_BYTES_PER_RULE) {
    throw fault(line, `the headers of one path are longer than ${MAX_BYTES_PER_RULE} bytes`)
  }
}

/** The name in lower case; no value for one that is removed. */
function parseHeader(line: RuleLine): readonly [string, string | null] {
  const removed = /^!\s*(\S+)$/.exec(line.text)?.[1]
  const [named, value] = removed === undefined ? splitHeader(line) : [removed, null]
  const name = named.toLowerCase()
  if (!NAME.test(name)) throw fault(line, `"${named}" is no name of a header`)
  if (FORBIDDEN.has(name)) {
    throw fault(line, `"${named}" is set by the service and cannot be changed`)
  }
  if (value !== null && !VALUE.test(value))
    throw fault(line, `the value of "${named}" must be ASCII`)
  return [name, value]
}

function splitHeader(line: RuleLine): readonly [string, string] {
  const colon = line.text.indexOf(':')
  if (colon < 1) throw fault(line, `"${line.text}" is no header: write "Name: value"`)
  return [line.text.slice(0, colon).trim(), line.text.slice(colon + 1).trim()]
}

const fault = ({ number }: RuleLine, message: string) => ruleFault(HEADERS_FILE, number, message)
