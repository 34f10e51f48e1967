import { decodeRequestPath } from './request-path.ts'

const PLACEHOLDER = /^:[A-Za-z]\w{0,63}$/
const MAX_SEGMENTS = 64

/** A path with placeholders (`/news/:year`), perhaps with everything below it (`/old/*`). */
export interface PathPattern {
  /** Literal parts in their decoded form; placeholders begin with `:`. */
  readonly segments: readonly string[]
  readonly hasSplat: boolean
}

/** What placeholders stand for, decoded; what is below a `*` is `splat`. */
export type PathMatch = ReadonlyMap<string, string>

/** The pattern, or what is wrong with it. */
export function parsePathPattern(text: string): PathPattern | string {
  if (!text.startsWith('/')) return 'must begin with "/"'
  const hasSplat = text.endsWith('/*')
  const path = decodeRequestPath(hasSplat ? text.slice(0, -1) : text)
  if (path === undefined) return 'is not a path that can be asked for'
  if (path.includes('*')) return 'may have "*" as its last part only'
  const segments = segmentsOf(path)
  if (segments.length > MAX_SEGMENTS) return `has more than ${MAX_SEGMENTS} parts`
  const names = segments.filter((segment) => segment.startsWith(':'))
  const wrong = names.find((name) => !PLACEHOLDER.test(name))
  if (wrong !== undefined) return `has "${wrong}", which is no placeholder, like ":year"`
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) return `has "${twice}" twice`
  return names.includes(':splat') ? 'has ":splat", which stands for "*"' : { segments, hasSplat }
}

export const isLiteral = ({ segments, hasSplat }: PathPattern): boolean =>
  !hasSplat && !segments.some((segment) => segment.startsWith(':'))

/** `path` is decoded; whether it ends with a slash makes no difference. */
export function matchPath(pattern: PathPattern, path: string): PathMatch | undefined {
  const { segments, hasSplat } = pattern
  const asked = segmentsOf(path)
  if (hasSplat ? asked.length < segments.length : asked.length !== segments.length) return undefined
  const match = new Map<string, string>()
  for (const [index, segment] of segments.entries()) {
    const value = asked[index] ?? ''
    if (segment.startsWith(':')) match.set(segment.slice(1), value)
    else if (segment !== value) return undefined
  }
  if (!hasSplat) return match
  const rest = asked.slice(segments.length).join('/')
  return match.set('splat', rest !== '' && path.endsWith('/') ? `${rest}/` : rest)
}

/** One spelling for paths that match the same literal pattern. */
export const literalKey = (path: string): string => segmentsOf(path).join('/')

/** Names of what a pattern binds. */
export const bindingsOf = ({ segments, hasSplat }: PathPattern): ReadonlySet<string> =>
  new Set([
    ...segments.filter((segment) => segment.startsWith(':')).map((name) => name.slice(1)),
    ...(hasSplat ? ['splat'] : []),
  ])

const segmentsOf = (path: string): string[] => {
  const inner = path.slice(1, path.endsWith('/') && path.length > 1 ? -1 : undefined)
  return inner === '' ? [] : inner.split('/')
}
