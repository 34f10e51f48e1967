const MAX_CHARACTERS = 2048
/** Nothing to decode and nothing to refuse. */
const PLAIN = /^(?:\/[\w~!$&'()*+,;=:@-][\w.~!$&'()*+,;=:@-]*)*\/?$/
/** Control characters, and what means another folder on some system. */
const FORBIDDEN = /[\p{Cc}\\/]/u
const WELL_KNOWN = '.well-known'

/**
 * The path of a request, decoded once and in Unicode's form C; undefined for one that names no file: malformed or doubled
 * separators, dot segments, hidden files. The result only ever is looked up among names, and never reaches a file system.
 */
export function decodeRequestPath(path: string): string | undefined {
  if (path.length > MAX_CHARACTERS || !path.startsWith('/')) return undefined
  if (PLAIN.test(path)) return path
  const segments: string[] = []
  const raw = path.slice(1).split('/')
  for (const [index, segment] of raw.entries()) {
    const isLast = index === raw.length - 1
    if (segment === '' && !isLast) return undefined
    const decoded = decodeSegment(segment)
    if (decoded === undefined || isHidden(decoded, index)) return undefined
    segments.push(decoded)
  }
  return `/${segments.join('/')}`
}

/** Whether a file's path has a part that is not served: one that begins with a dot, except for `.well-known` at the root. */
export const isHiddenPath = (path: string): boolean => path.split('/').some(isHidden)

/** As a URL has it. */
export const encodeRequestPath = (path: string): string =>
  path.split('/').map(encodeSegment).join('/')

/** Leaves what a path may hold as it is, so that links stay readable. */
const encodeSegment = (segment: string): string =>
  encodeURIComponent(segment.toWellFormed()).replaceAll(/%(?:40|3A|24|26|2B|2C|3B|3D)/g, (escape) =>
    decodeURIComponent(escape),
  )

const isHidden = (segment: string, index: number): boolean =>
  segment.startsWith('.') && !(index === 0 && segment === WELL_KNOWN)

function decodeSegment(segment: string): string | undefined {
  try {
    const decoded = decodeURIComponent(segment).normalize('NFC')
    return FORBIDDEN.test(decoded) ? undefined : decoded
  } catch {
    return undefined
  }
}
