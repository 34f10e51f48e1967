export type PathParams = Readonly<Record<string, string>>

/** The values of the names in `pattern`, or undefined where `path` is another. `/people/admins/{userId}` takes one segment for each name. */
export function matchPath(pattern: string, path: string): PathParams | undefined {
  const wanted = segmentsOf(pattern)
  const given = segmentsOf(path)
  if (wanted.length !== given.length) return undefined
  const params: Record<string, string> = {}
  for (const [index, segment] of wanted.entries()) {
    const value = given[index] ?? ''
    const name = /^\{(\w+)\}$/.exec(segment)?.[1]
    if (name === undefined) {
      if (segment !== value) return undefined
      continue
    }
    const decoded = decodedSegment(value)
    if (decoded === undefined) return undefined
    params[name] = decoded
  }
  return params
}

/** The path of a screen: `pathTo('/people/admins/{userId}', { userId })`. */
export const pathTo = (pattern: string, params: PathParams = {}): string =>
  pattern.replaceAll(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(params[name] ?? ''))

const segmentsOf = (path: string): string[] => path.split('/').filter((segment) => segment !== '')

function decodedSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}
