import {
  type PathMatch,
  type PathPattern,
  isLiteral,
  literalKey,
  matchPath,
  parsePathPattern,
} from './path-pattern.ts'
import type { RedirectRule } from './redirects-file.ts'
import { encodeRequestPath } from './request-path.ts'

interface CompiledRule {
  readonly order: number
  readonly rule: RedirectRule
  readonly pattern: PathPattern
}

export interface MatchedRule {
  readonly rule: RedirectRule
  readonly match: PathMatch
}

/** The rules of one deployment; the first one in the file that matches counts. */
export class RedirectRules {
  readonly #literal = new Map<string, CompiledRule[]>()
  readonly #patterns: CompiledRule[] = []
  /** Whether some rule goes before files. */
  readonly hasForced: boolean

  constructor(rules: readonly RedirectRule[]) {
    this.hasForced = rules.some(({ force }) => force)
    for (const [order, rule] of rules.entries()) {
      const pattern = parsePathPattern(rule.from)
      if (typeof pattern === 'string') continue
      const compiled = { order, rule, pattern }
      if (!isLiteral(pattern)) this.#patterns.push(compiled)
      else {
        const key = pattern.segments.join('/')
        this.#literal.set(key, [...(this.#literal.get(key) ?? []), compiled])
      }
    }
  }

  /** `path` is decoded. With `onlyForced` the path has a file, which goes before other rules. */
  find(path: string, { onlyForced }: { readonly onlyForced: boolean }): MatchedRule | undefined {
    const counts = ({ rule }: CompiledRule) => rule.force || !onlyForced
    const literal = this.#literal.get(literalKey(path))?.find(counts)
    for (const candidate of this.#patterns) {
      if (literal && literal.order < candidate.order) break
      const match = counts(candidate) ? matchPath(candidate.pattern, path) : undefined
      if (match) return { rule: candidate.rule, match }
    }
    return literal && { rule: literal.rule, match: new Map() }
  }
}

/** Where a redirect leads, ready for `Location`: to the host that the file names, or to none. */
export function redirectLocation({ rule, match }: MatchedRule, search: string): string {
  const filled = fill(rule.to, match, ({ value, isInQuery }) =>
    isInQuery ? encodeURIComponent(value.toWellFormed()) : encodeRequestPath(value),
  )
  // `/:splat/x` of nothing would begin with `//`, which names a host.
  const target = rule.to.startsWith('/') ? filled.replace(/^\/{2,}/, '/') : filled
  const [path = '', fragment] = target.split('#', 2)
  const query = path.includes('?') || !/^\?[\x21-\x7e]*$/.test(search) ? '' : search
  return fragment === undefined ? path + query : `${path}${query}#${fragment}`
}

/** The path, not encoded, whose file answers. */
export const rewrittenPath = ({ rule, match }: MatchedRule): string =>
  fill(rule.to, match, ({ value }) => value)

interface BoundValue {
  readonly value: string
  readonly isInQuery: boolean
}

/** Only behind the host, where a rule may have placeholders. */
function fill(to: string, match: PathMatch, encode: (bound: BoundValue) => string): string {
  const host = /^https?:\/\/[^/?#]*/i.exec(to)?.[0] ?? ''
  const tail = to.slice(host.length)
  const [beforeFragment = ''] = tail.split('#', 1)
  const query = beforeFragment.indexOf('?')
  const filled = tail.replaceAll(/:([A-Za-z]\w*)/g, (variable, name: string, at: number) => {
    const value = match.get(name)
    const isInQuery = query !== -1 && at > query && at < beforeFragment.length
    return value === undefined ? variable : encode({ value, isInQuery })
  })
  return host + filled
}
