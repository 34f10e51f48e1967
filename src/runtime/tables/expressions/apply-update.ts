import {
  type AttributeValue,
  type Item,
  membersOf,
  typeOf,
  type Attributes,
} from '#runtime/tables/items/attribute-value.ts'
import type { TableSchema } from '#runtime/tables/items/key-schema.ts'
import { checkLevel } from '#runtime/tables/items/limits.ts'
import { addNumbers, subtractNumbers } from '#runtime/tables/items/number.ts'
import { validationError } from '#runtime/tables/validation-error.ts'

import type { Update } from './bind-update.ts'
import { childOf, valueAt, type DocumentPath } from './document-path.ts'
import { checkAssignedKey } from './key-rules.ts'
import type { BoundCall, Operand, UpdateAction } from './syntax.ts'

const MISSING = 'The provided expression refers to an attribute that does not exist in the item'
const WRONG_TYPE = 'An operand in the update expression has an incorrect data type'
const WRONG_PATH = 'The document path provided in the update expression is invalid for update'

export interface Before {
  /** The item as it is stored, or undefined when the update creates it. */
  readonly stored: Item | undefined
  /** The key attributes, with which a new item begins. */
  readonly key: Item
  /** The table's schema, for the keys of its indexes; none are checked when left out. */
  readonly schema?: TableSchema
}

/** A value put in a place, or undefined to remove what is there. */
interface Edit {
  readonly path: DocumentPath
  readonly value: AttributeValue | undefined
}

/**
 * The item after an update; the one before is left as it is. Every action sees the item before the update:
 * neither the order of the actions nor a removed list element changes what another one means. Undefined when there
 * is no item and the update would only take something away from it: DynamoDB makes none for that.
 */
export function applyUpdate({ actions }: Update, before: Before): Item | undefined {
  const item = before.stored ?? before.key
  const resolved = actions.map((action) => ({
    action,
    value: action.value && resolve(action.value, item),
  }))
  const edits = resolved.flatMap(({ action, value }) => {
    // A removal below what a missing item has not is nothing to complain about; DynamoDB does so too.
    if (before.stored === undefined && action.section === 'REMOVE') return []
    const made = editOf(action, value, item)
    if (before.schema) checkAssignedKey(action, value, before.schema)
    return made
  })
  if (before.stored === undefined && onlyTakesAway(actions)) return undefined
  return applyEdits(item, edits)
}

/** An update without any action makes an item of its key alone. */
const onlyTakesAway = (actions: readonly UpdateAction[]): boolean =>
  actions.length > 0 && actions.every(({ section }) => section === 'REMOVE' || section === 'DELETE')

function editOf(action: UpdateAction, value: AttributeValue | undefined, item: Item): Edit[] {
  const { section, path } = action
  const last = path.at(-1)
  const parent = valueAt(item, path.slice(0, -1))
  if (parent === undefined || last === undefined || !holdsPart(parent, last)) {
    throw validationError(WRONG_PATH)
  }
  if (section === 'SET') return [{ path, value }]
  const existing = childOf(parent, last)
  const after = value && accumulated(section, existing, value)
  return after === existing ? [] : [{ path, value: after }]
}

const holdsPart = (parent: AttributeValue, part: string | number): boolean =>
  typeof part === 'number' ? 'L' in parent : 'M' in parent

function accumulated(
  section: UpdateAction['section'],
  existing: AttributeValue | undefined,
  value: AttributeValue,
): AttributeValue | undefined {
  if (existing === undefined) return section === 'ADD' ? value : undefined
  if (typeOf(existing) !== typeOf(value)) throw validationError(WRONG_TYPE)
  return section === 'ADD' ? sum(existing, value) : difference(existing, value)
}

/** Of two numbers, or two sets of one type. */
function sum(existing: AttributeValue, added: AttributeValue): AttributeValue {
  if ('N' in existing && 'N' in added) return { N: addNumbers(existing.N, added.N) }
  return setLike(existing, [...new Set([...membersIn(existing), ...membersIn(added)])])
}

/** Undefined for a set without members, which is no set: the attribute goes. */
function difference(existing: AttributeValue, removed: AttributeValue): AttributeValue | undefined {
  const gone = new Set(membersIn(removed))
  const left = membersIn(existing).filter((member) => !gone.has(member))
  return left.length === 0 ? undefined : setLike(existing, left)
}

const membersIn = (set: AttributeValue): readonly string[] => membersOf(set) ?? []

function setLike(set: AttributeValue, members: readonly string[]): AttributeValue {
  if ('SS' in set) return { SS: members }
  return 'NS' in set ? { NS: members } : { BS: members }
}

function resolve(operand: Operand | undefined, item: Item): AttributeValue {
  if (operand?.kind === 'value') return operand.value
  if (operand?.kind === 'call') return computed(operand, item)
  return present(operand && valueAt(item, operand.path))
}

function computed({ operator, operands: [first, second] }: BoundCall, item: Item): AttributeValue {
  if (operator === 'if_not_exists') {
    return (first?.kind === 'path' && valueAt(item, first.path)) || resolve(second, item)
  }
  if (operator === 'list_append') {
    return { L: [...listOf(resolve(first, item)), ...listOf(resolve(second, item))] }
  }
  const compute = operator === '+' ? addNumbers : subtractNumbers
  const left = numberOf(resolve(first, item))
  return { N: compute(left, numberOf(resolve(second, item))) }
}

function present(value: AttributeValue | undefined): AttributeValue {
  if (value === undefined) throw validationError(MISSING)
  return value
}

function listOf(value: AttributeValue): readonly AttributeValue[] {
  if ('L' in value) return value.L
  throw validationError(WRONG_TYPE)
}

function numberOf(value: AttributeValue): string {
  if ('N' in value) return value.N
  throw validationError(WRONG_TYPE)
}

/**
 * Writes edits whose paths do not overlap, each in the place its path means before any of them. Elements beyond
 * the end of a list are appended in the order of their indexes.
 */
function applyEdits(item: Item, edits: readonly Edit[]): Item {
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
