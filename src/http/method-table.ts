/** How a route is declared that serves every method. */
const EVERY_METHOD = 'ALL'

/** Tells a wrong method (405 with `Allow`) from a wrong path (404). Built once from the routes. */
export class MethodTable {
  readonly #paths: { readonly pattern: RegExp; readonly methods: Set<string> }[] = []

  constructor(routes: readonly { readonly method: string; readonly path: string }[]) {
    const byPath = new Map<string, Set<string>>()
    for (const { method, path } of routes) {
      // What serves every method is for some of the paths that match it: it says itself for which.
      if (method === EVERY_METHOD) continue
      const methods = byPath.get(path) ?? new Set()
      byPath.set(path, methods.add(method))
    }
    for (const [path, methods] of byPath) this.#paths.push({ pattern: patternOf(path), methods })
  }

  /** The methods that some route serves at this path, or undefined when none does. */
  allowed(path: string): string | undefined {
    const methods = this.#paths
      .filter(({ pattern }) => pattern.test(path))
      .flatMap((entry) => [...entry.methods])
    return methods.length === 0 ? undefined : [...new Set(methods)].sort().join(', ')
  }
}

function patternOf(path: string): RegExp {
  const source = path
    .replace(/(?<=.)\/$/, '')
    .split('/')
    .map((part) => {
      if (part.startsWith(':')) return '[^/]+'
      if (part === '*') return '.*'
      return part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
    })
    .join('/')
  return new RegExp(`^${source}/?$`)
}
