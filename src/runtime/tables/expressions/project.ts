import type { Attributes, AttributeValue, Item } from '#runtime/tables/items/attribute-value.ts'

import { checkDistinctPaths, childOf, type DocumentPath } from './document-path.ts'
import type { Substitutions } from './substitutions.ts'

/** The parts that a projection keeps of a value, or all of it. */
type Kept = 'whole' | ReadonlyMap<string | number, Kept>
type Tree = Map<string | number, 'whole' | Tree>

export interface Projection {
  readonly paths: readonly DocumentPath[]
  readonly kept: ReadonlyMap<string | number, Kept>
}

/** Puts names into a parsed projection and checks that its paths go together. */
export function bindProjection(
  written: readonly DocumentPath[],
  substitutions: Substitutions,
): Projection {
  const paths = written.map((path) => substitutions.path(path))
  checkDistinctPaths(paths)
  return projectionOf(paths)
}

/** A projection of paths that do not overlap. */
export function projectionOf(paths: readonly DocumentPath[]): Projection {
  const root: Tree = new Map()
  for (const path of paths) keep(root, path)
  return { paths, kept: root }
}

/** What a projection keeps of an item: list elements move together, what is missing leaves nothing behind. */
export function project({ kept }: Projection, item: Item): Item {
  const picked = pick({ M: item }, kept)
  return picked !== undefined && 'M' in picked ? picked.M : {}
}

function pick(value: AttributeValue, kept: Kept): AttributeValue | undefined {
  if (kept === 'whole') return value
  const parts: [string | number, AttributeValue][] = []
  for (const [part, below] of kept) {
    const child = childOf(value, part)
    const picked = child === undefined ? undefined : pick(child, below)
    if (picked !== undefined) parts.push([part, picked])
  }
  if (parts.length === 0) return undefined
  return 'L' in value ? { L: inOrder(parts) } : { M: asAttributes(parts) }
}

const inOrder = (parts: readonly [string | number, AttributeValue][]): AttributeValue[] =>
  parts.toSorted(([one], [other]) => Number(one) - Number(other)).map(([, value]) => value)

const asAttributes = (parts: readonly [string | number, AttributeValue][]): Attributes =>
  Object.fromEntries(parts)

function keep(tree: Tree, path: DocumentPath): void {
  const [part, ...rest] = path
  if (part === undefined) return
  if (rest.length === 0) {
    tree.set(part, 'whole')
    return
  }
  const known = tree.get(part)
  if (known === 'whole') return
  const below: Tree = known ?? new Map()
  tree.set(part, below)
  keep(below, rest)
}
