import { dirname } from 'node:path/posix'

import type { Module } from './module.ts'

/** Where SQL is allowed: in files of queries, and in the adapters to PostgreSQL itself. */
const QUERY_FILE = /(?:\/|-)queries\.ts$|^src\/platform\/(?:postgres|queue)\//

/**
 * Names that files of more than one layer export, with all files that export them: across layers a name means one
 * thing. Within a layer the folder says which is meant.
 */
export function sharedExports(modules: readonly Module[]): ReadonlyMap<string, readonly string[]> {
  const exporters = new Map<string, string[]>()
  for (const { path, exports } of modules) {
    for (const name of exports) exporters.set(name, [...(exporters.get(name) ?? []), path])
  }
  return new Map([...exporters].filter(([, paths]) => new Set(paths.map(layerOf)).size > 1))
}

/** A folder of `src`, `src` itself for the files that wire the service, or `sandbox`. */
function layerOf(path: string): string {
  const [top = '', folder] = dirname(path).split('/')
  return top === 'src' && folder !== undefined ? `src/${folder}` : top
}

/** The feature that a file belongs to: a folder of a layer, such as `src/mail/aliases`; undefined for a file of the layer itself. */
export function featureOf(path: string): string | undefined {
  const folders = dirname(path).split('/')
  if (folders[0] === 'src') return folders.length > 2 ? folders.slice(0, 3).join('/') : undefined
  return folders.join('/')
}

/** An import from one feature of another. */
export interface FeatureImport {
  readonly from: string
  readonly to: string
}

export function featureImports(modules: readonly Module[]): FeatureImport[] {
  return modules.flatMap(({ path, imports }) =>
    imports
      .filter((target) => {
        const [from, to] = [featureOf(path), featureOf(target)]
        return from !== undefined && to !== undefined && from !== to
      })
      .map((to) => ({ from: path, to })),
  )
}

/** Groups of features of which each reaches every other by imports. Tarjan's algorithm. */
export function featureCycles(modules: readonly Module[]): string[][] {
  const graph = new Map<string, Set<string>>()
  for (const { from, to } of featureImports(modules)) {
    const [source, target] = [featureOf(from) ?? '', featureOf(to) ?? '']
    graph.set(source, (graph.get(source) ?? new Set()).add(target))
  }
  return stronglyConnected(graph).filter((features) => features.length > 1)
}

/** Lines with SQL in files that are not for it, as `path:line`. */
export const sqlOutsideQueries = (modules: readonly Module[]): string[] =>
  modules
    .filter(({ path }) => !QUERY_FILE.test(path))
    .flatMap(({ path, sqlLines }) => sqlLines.map((line) => `${path}:${line}`))

function stronglyConnected(graph: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const order = new Map<string, number>()
  const stack: string[] = []
  const components: string[][] = []
  const visit = (node: string): number => {
    const index = order.size
    let low = index
    order.set(node, index)
    stack.push(node)
    for (const next of graph.get(node) ?? []) {
      if (!order.has(next)) low = Math.min(low, visit(next))
      else if (stack.includes(next)) low = Math.min(low, order.get(next) ?? low)
    }
    if (low === index) components.push(stack.splice(stack.indexOf(node)).toSorted())
    return low
  }
  for (const node of graph.keys()) if (!order.has(node)) visit(node)
  return components
}
