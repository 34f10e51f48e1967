import type { Attributes, AttributeValue, Item } from '#runtime/tables/items/attribute-value.ts'
import { checkLevel } from '#runtime/tables/items/limits.ts'

import type { DocumentPath } from './document-path.ts'

/** A value put in a place, or undefined to remove what is there. */
export interface Edit {
  readonly path: DocumentPath
  readonly value: AttributeValue | undefined
}

/**
 * Writes edits whose paths do not overlap, each in the place its path means before any of them. Elements beyond
 * the end of a list are appended in the order of their indexes.
 */
export function applyEdits(item: Item, edits: readonly Edit[]): Item {
  if (edits.length === 0) return item
  return writeAttributes(item, edits, 0)
}

function writeAttributes(
  attributes: Attributes,
  edits: readonly Edit[],
  level: number,
): Attributes {
  const written = new Map(Object.entries(attributes))
  for (const [part, below] of byPart(edits, level)) {
    const name = String(part)
    const value = writePart(written.get(name), below, level + 1)
    if (value === undefined) written.delete(name)
    else written.set(name, value)
  }
  return Object.fromEntries(written)
}

function writeList(
  list: readonly AttributeValue[],
  edits: readonly Edit[],
  level: number,
): readonly AttributeValue[] {
  const elements: (AttributeValue | undefined)[] = [...list]
  const inOrder = [...byPart(edits, level)].toSorted(
    ([one], [other]) => Number(one) - Number(other),
  )
  for (const [part, below] of inOrder) {
    const index = Number(part)
    const value = writePart(list[index], below, level + 1)
    if (index < list.length) elements[index] = value
    else elements.push(value)
  }
  return elements.filter((element) => element !== undefined)
}

/** Either one edit ends here, or all of them go on below a map or list. */
function writePart(
  value: AttributeValue | undefined,
  edits: readonly Edit[],
  level: number,
): AttributeValue | undefined {
  const [first] = edits
  if (first === undefined || first.path.length === level) return written(first?.value, level)
  if (value !== undefined && 'L' in value) return { L: writeList(value.L, edits, level) }
  if (value !== undefined && 'M' in value) return { M: writeAttributes(value.M, edits, level) }
  return value
}

/** What is put somewhere may be too deep there, though it was not where it came from. */
function written(value: AttributeValue | undefined, level: number): AttributeValue | undefined {
  if (value !== undefined) checkLevels(value, level)
  return value
}

function checkLevels(value: AttributeValue, level: number): void {
  checkLevel(level)
  if ('L' in value) for (const each of value.L) checkLevels(each, level + 1)
  if ('M' in value) for (const each of Object.values(value.M)) checkLevels(each, level + 1)
}

/** None of the edits ends above this level. */
const byPart = (edits: readonly Edit[], level: number): Map<string | number, Edit[]> =>
  Map.groupBy(edits, ({ path }) => path[level] ?? '')
