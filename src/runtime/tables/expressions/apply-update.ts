import {
  type AttributeValue,
  type Item,
  membersOf,
  typeOf,
} from '#runtime/tables/items/attribute-value.ts'
import type { TableSchema } from '#runtime/tables/items/key-schema.ts'
import { addNumbers, subtractNumbers } from '#runtime/tables/items/number.ts'
import { validationError } from '#runtime/tables/validation-error.ts'

import type { Update } from './bind-update.ts'
import { childOf, valueAt } from './document-path.ts'
import { checkAssignedKey } from './key-rules.ts'
import type { BoundCall, Operand, UpdateAction } from './syntax.ts'
import { applyEdits, type Edit } from './write-edits.ts'

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
