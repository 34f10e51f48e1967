import {
  attributeOf,
  type AttributeValue,
  type Item,
} from '#runtime/tables/items/attribute-value.ts'

import { ExpressionError } from './expression-error.ts'

/** Attribute names and list indexes from the item down; the first is always a name. */
export type DocumentPath = readonly (string | number)[]

/** The value at a path, or undefined when something on the way is missing or of another type. */
export function valueAt(item: Item, path: DocumentPath): AttributeValue | undefined {
  let value: AttributeValue | undefined = { M: item }
  for (const part of path) {
    value = childOf(value, part)
    if (value === undefined) return undefined
  }
  return value
}

export function childOf(value: AttributeValue, part: string | number): AttributeValue | undefined {
  if (typeof part === 'number') return 'L' in value ? value.L[part] : undefined
  return 'M' in value ? attributeOf(value.M, part) : undefined
}

export const samePath = (one: DocumentPath, other: DocumentPath): boolean =>
  one.length === other.length && one.every((part, index) => part === other[index])

/** As DynamoDB writes a path in its messages: `[a, [0], b]`. */
export const pathText = (path: DocumentPath): string =>
  `[${path.map((part) => (typeof part === 'number' ? `[${part}]` : part)).join(', ')}]`

/**
 * Refuses paths of which one contains another, or of which one takes for a list what another takes for a map.
 * Overlaps are reported before conflicts.
 */
export function checkDistinctPaths(paths: readonly DocumentPath[]): void {
  let conflict: ExpressionError | undefined
  for (const [index, path] of paths.entries()) {
    for (const earlier of paths.slice(0, index)) {
      const relation = relationOf(earlier, path)
      if (relation === 'overlap') throw pathFault(relation, earlier, path)
      if (relation === 'conflict') conflict = pathFault(relation, earlier, path)
    }
  }
  if (conflict !== undefined) throw conflict
}

function relationOf(one: DocumentPath, other: DocumentPath): 'overlap' | 'conflict' | 'distinct' {
  const shared = Math.min(one.length, other.length)
  for (let index = 0; index < shared; index += 1) {
    const [left, right] = [one[index], other[index]]
    if (typeof left !== typeof right) return 'conflict'
    if (left !== right) return 'distinct'
  }
  return 'overlap'
}

const pathFault = (
  relation: 'overlap' | 'conflict',
  one: DocumentPath,
  other: DocumentPath,
): ExpressionError =>
  new ExpressionError(
    `Two document paths ${relation} with each other; must remove or rewrite one of these paths; ` +
      `path one: ${pathText(one)}, path two: ${pathText(other)}`,
  )
