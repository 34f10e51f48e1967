import {
  type AttributeValue,
  type Item,
  membersOf,
  type SetValue,
  setOf,
  type SetType,
  typeOf,
} from '#runtime/tables/items/attribute-value.ts'
import type { TableSchema } from '#runtime/tables/items/key-schema.ts'
import { addNumbers, subtractNumbers } from '#runtime/tables/items/number.ts'
import { validationError } from '#runtime/tables/validation-error.ts'

import { childOf, type DocumentPath, valueAt } from './document-path.ts'
import { checkAssignedKey } from './key-rules.ts'
import type { UpdateAction, Update, UpdateValue } from './update.ts'
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
export function applyUpdate(update: Update, before: Before): Item | undefined {
  const item = before.stored ?? before.key
  const assigned = new Map(
    update.actions.map((action) => [
      action,
      action.section === 'SET' ? resolve(action.value, item) : undefined,
    ]),
  )
  const edits = update.actions.flatMap((action) => {
    // A removal below what a missing item has not is nothing to complain about; DynamoDB does so too.
    if (before.stored === undefined && action.section === 'REMOVE') return []
    const made = editOf(action, assigned.get(action), item)
    if (before.schema) checkAssignedKey(action, assigned.get(action), before.schema)
    return made
  })
  if (before.stored === undefined && onlyTakesAway(update)) return undefined
  return applyEdits(item, edits)
}

/** An update without any action makes an item of its key alone. */
const onlyTakesAway = ({ actions }: Update): boolean =>
  actions.length > 0 && actions.every(({ section }) => section === 'REMOVE' || section === 'DELETE')

function editOf(action: UpdateAction, assigned: AttributeValue | undefined, item: Item): Edit[] {
  const { path } = action
  const last = path.at(-1)
  const parent = valueAt(item, path.slice(0, -1))
  if (parent === undefined || last === undefined || !holdsPart(parent, last)) {
    throw validationError(WRONG_PATH)
  }
  const existing = childOf(parent, last)
  if (action.section === 'SET') return [{ path, value: assigned }]
  if (action.section === 'REMOVE') return existing === undefined ? [] : [{ path, value: undefined }]
  if (existing !== undefined && typeOf(existing) !== typeOf(action.value)) {
    throw validationError(WRONG_TYPE)
  }
  return action.section === 'ADD'
    ? [{ path, value: sum(action.value, existing) }]
    : deletion(path, action.value, existing)
}

const holdsPart = (parent: AttributeValue, part: string | number): boolean =>
  typeof part === 'number' ? 'L' in parent : 'M' in parent

function sum(
  added: SetValue | { readonly N: string },
  existing: AttributeValue | undefined,
): AttributeValue {
  if ('N' in added) {
    return {
      N: existing !== undefined && 'N' in existing ? addNumbers(existing.N, added.N) : added.N,
    }
  }
  const members = new Set([...membersIn(existing), ...membersIn(added)])
  return setOf(setTypeOf(added), [...members])
}

/** A set without members is no set: the attribute goes. */
function deletion(
  path: DocumentPath,
  removed: SetValue,
  existing: AttributeValue | undefined,
): Edit[] {
  if (existing === undefined) return []
  const gone = new Set(membersIn(removed))
  const left = membersIn(existing).filter((member) => !gone.has(member))
  return [{ path, value: left.length === 0 ? undefined : setOf(setTypeOf(removed), left) }]
}

const membersIn = (value: AttributeValue | undefined): readonly string[] =>
  (value === undefined ? undefined : membersOf(value)) ?? []

function setTypeOf(value: SetValue): SetType {
  if ('SS' in value) return 'SS'
  return 'NS' in value ? 'NS' : 'BS'
}

function resolve(value: UpdateValue, item: Item): AttributeValue {
  switch (value.kind) {
    case 'value':
      return value.value
    case 'path':
      return present(valueAt(item, value.path))
    case 'ifNotExists':
      return valueAt(item, value.path) ?? resolve(value.otherwise, item)
    case 'listAppend': {
      const [head, tail] = value.operands
      const first = listOf(resolve(head, item))
      return { L: [...first, ...listOf(resolve(tail, item))] }
    }
    case 'arithmetic': {
      const [left, right] = value.operands
      const first = numberOf(resolve(left, item))
      const second = numberOf(resolve(right, item))
      return {
        N: value.operator === '+' ? addNumbers(first, second) : subtractNumbers(first, second),
      }
    }
    default:
      return value satisfies never
  }
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
