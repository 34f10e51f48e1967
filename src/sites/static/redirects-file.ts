import {
  type PathPattern,
  bindingsOf,
  isLiteral,
  literalKey,
  parsePathPattern,
} from './path-pattern.ts'
import { isReservedPath } from './reserved-paths.ts'
import { type RuleLine, ruleFault, ruleLines } from './rules-file.ts'

export const REDIRECTS_FILE = '_redirects'
const MAX_LITERAL_RULES = 2000
/** Each of them is tried in turn. */
const MAX_PATTERN_RULES = 100
const REDIRECT_STATUSES = [301, 302, 303, 307, 308] as const
const STATUSES: readonly number[] = [...REDIRECT_STATUSES, 200, 404]
const VARIABLE = /:([A-Za-z]\w*)/g
const CONDITION = /^(?:Country|Language|Role|Cookie|Conditions?)=/i

/** One line of `_redirects`, as the manifest keeps it. */
export interface RedirectRule {
  readonly line: number
  readonly from: string
  /** A path, or an absolute URL; `:name` stands for what the pattern bound. */
  readonly to: string
  /** 200 and 404 answer with the file that is at `to`; the others send the browser there. */
  readonly status: number
  /** Whether the rule goes before a file that is at the path. */
  readonly force: boolean
}

/** Reads a file of the kind that Netlify made common. Throws `InvalidArtifact` with the line of the first fault. */
export function parseRedirects(text: string): RedirectRule[] {
  const rules: RedirectRule[] = []
  let patterns = 0
  for (const line of ruleLines(REDIRECTS_FILE, text)) {
    const { rule, pattern } = parseLine(line)
    rules.push(rule)
    if (!isLiteral(pattern)) patterns += 1
    if (patterns > MAX_PATTERN_RULES) {
      throw fault(line, `there are more than ${MAX_PATTERN_RULES} rules with "*" or ":name"`)
    }
    if (rules.length - patterns > MAX_LITERAL_RULES) {
      throw fault(line, `there are more than ${MAX_LITERAL_RULES} rules`)
    }
  }
  return rules
}

/** Whether the rule sends the browser elsewhere. */
export const isRedirect = ({ status }: Pick<RedirectRule, 'status'>): boolean =>
  REDIRECT_STATUSES.some((known) => known === status)

function parseLine(line: RuleLine): { rule: RedirectRule; pattern: PathPattern } {
  const words = line.text.split(/\s+/)
  const comment = words.findIndex((word) => word.startsWith('#'))
  const [from = '', ...rest] = comment === -1 ? words : words.slice(0, comment)
  const pattern = parseFrom(line, from)
  const { to, status, force } = parseRest(line, rest)
  const rule = { line: line.number, from, to, status, force }
  checkTarget(line, rule, pattern)
  return { rule, pattern }
}

function parseFrom(line: RuleLine, from: string): PathPattern {
  if (/^[a-z]+:\/\//i.test(from)) {
    throw fault(line, `"${from}" names a host: rules are for this site's own paths, from "/" on`)
  }
  if (/[?#]/.test(from))
    throw fault(line, `"${from}" has a query or fragment: match the path alone`)
  const pattern = parsePathPattern(from)
  if (typeof pattern === 'string') throw fault(line, `"${from}" ${pattern}`)
  if (isReservedPath(`/${pattern.segments[0] ?? ''}`)) {
    throw fault(line, `"${from}" is a path of the service itself: rules cannot change it`)
  }
  return pattern
}

function parseRest(
  line: RuleLine,
  words: readonly string[],
): Pick<RedirectRule, 'to' | 'status' | 'force'> {
  const at = words.findIndex((word) => word.startsWith('/') || /^[a-z][a-z0-9+.-]*:/i.test(word))
  refuseQuery(line, at === -1 ? words : words.slice(0, at))
  const [to, status = '301', ...others] = words.slice(Math.max(0, at))
  if (to === undefined) throw fault(line, 'names no target: write "/from /to 301"')
  const condition = [status, ...others].find((word) => CONDITION.test(word))
  if (condition !== undefined) {
    throw fault(line, `conditions ("${condition}") are not supported: remove it`)
  }
  const [other] = others
  if (other !== undefined) throw fault(line, `"${other}" is one word too many`)
  return { to, ...parseStatus(line, status) }
}

/** Refuses words between the path and the target. */
function refuseQuery(line: RuleLine, [word]: readonly string[]): void {
  if (word === undefined) return
  throw fault(
    line,
    word.includes('=')
      ? `query parameters ("${word}") are not supported: match the path alone`
      : `"${word}" is no target: give a path or an https:// URL`,
  )
}

function parseStatus(line: RuleLine, word: string): Pick<RedirectRule, 'status' | 'force'> {
  const force = word.endsWith('!')
  const status = Number(force ? word.slice(0, -1) : word)
  if (!STATUSES.includes(status)) {
    throw fault(line, `"${word}" is no status for a rule: there are ${STATUSES.join(', ')}`)
  }
  return { status, force }
}

function checkTarget(line: RuleLine, rule: RedirectRule, pattern: PathPattern): void {
  const { to } = rule
  if (!/^[\x21-\x7e]+$/.test(to)) throw fault(line, `"${to}" must be ASCII: encode it with "%"`)
  if (/^[a-z][a-z0-9+.-]*:/i.test(to)) checkUrl(line, rule)
  else checkPath(line, rule, pattern)
  const bound = bindingsOf(pattern)
  for (const [variable, name = ''] of tailOf(to).matchAll(VARIABLE)) {
    if (!bound.has(name))
      throw fault(line, `"${variable}" in "${to}" stands for nothing in "${rule.from}"`)
  }
}

function checkUrl(line: RuleLine, rule: RedirectRule): void {
  const { to } = rule
  if (!/^https?:\/\//i.test(to) || !URL.canParse(to)) {
    throw fault(line, `"${to}" is no target: give a path or an https:// URL`)
  }
  if (!isRedirect(rule)) {
    throw fault(
      line,
      `"${to}" is another host: it can be redirected to, not answered for (status ${rule.status})`,
    )
  }
  const host = to.slice(to.indexOf('//') + 2, to.length - tailOf(to).length)
  if (host.includes('@') || host.replace(/:\d+$/, '').includes(':')) {
    throw fault(line, `"${to}" must name its host itself: no placeholder or user in it`)
  }
}

function checkPath(line: RuleLine, rule: RedirectRule, pattern: PathPattern): void {
  const { to, from } = rule
  if (to.startsWith('//') || to.includes('\\')) {
    throw fault(line, `"${to}" could lead to another host: give a path or an https:// URL`)
  }
  if (isRedirect(rule)) {
    const isSame = isLiteral(pattern) && literalKey(to) === literalKey(from)
    if (isSame && rule.force) throw fault(line, `"${from}" leads to itself`)
    return
  }
  if (/[?#]/.test(to)) throw fault(line, `"${to}" must be a file of the site: no query or fragment`)
  if (isReservedPath(to)) {
    throw fault(
      line,
      `"${to}" is a path of the service itself: redirect to it instead (status 302)`,
    )
  }
}

/** The part behind the host of a URL; a path as it is. */
function tailOf(to: string): string {
  const host = /^https?:\/\/[^/?#]*/i.exec(to)?.[0] ?? ''
  return to.slice(host.length)
}

const fault = ({ number }: RuleLine, message: string) => ruleFault(REDIRECTS_FILE, number, message)
