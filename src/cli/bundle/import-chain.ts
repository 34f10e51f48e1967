import type { Metafile } from 'esbuild'

const PACKAGES = 'node_modules/'

/** Which package a file belongs to; undefined for the site's own. The path may be one of pnpm's. */
export function packageOf(path: string): string | undefined {
  const at = path.lastIndexOf(PACKAGES)
  return at < 0 ? undefined : packageNameOf(path.slice(at + PACKAGES.length))
}

/** `@scope/name/lib/file.js` is of `@scope/name`. */
export function packageNameOf(specifier: string): string {
  const [first = '', second = ''] = specifier.split('/')
  return first.startsWith('@') ? `${first}/${second}` : first
}

/** The shortest way from the entry to a file, both included; empty when there is none. */
export function chainTo(
  inputs: Metafile['inputs'],
  entry: string,
  target: string,
): readonly string[] {
  const cameFrom = new Map<string, string | undefined>([[entry, undefined]])
  for (const path of cameFrom.keys()) {
    if (path === target) return chainFrom(cameFrom, target)
    for (const { path: next, external } of inputs[path]?.imports ?? []) {
      if (external !== true && !cameFrom.has(next)) cameFrom.set(next, path)
    }
  }
  return []
}

/** `functions/pay.ts → stripe → qs`: files of the site, and packages by their names, each once. */
export const chainText = (chain: readonly string[]): string =>
  chain
    .map((path) => packageOf(path) ?? path)
    .filter((name, at, names) => name !== names[at - 1])
    .join(' → ')

function chainFrom(
  cameFrom: ReadonlyMap<string, string | undefined>,
  target: string,
): readonly string[] {
  const chain: string[] = []
  for (let at: string | undefined = target; at !== undefined; at = cameFrom.get(at)) chain.push(at)
  return chain.reverse()
}
