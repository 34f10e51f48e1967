import { AppError } from '#base/app-error.ts'
import type { Expressions } from '#runtime/tables/expressions/expressions.ts'
import { itemMatches } from '#runtime/tables/expressions/matches.ts'
import type { Condition } from '#runtime/tables/expressions/syntax.ts'
import type { Item } from '#runtime/tables/items/attribute-value.ts'
import { type KeySchema, keyAttributes } from '#runtime/tables/items/key-schema.ts'
import { plainItem } from '#runtime/tables/items/plain-json.ts'
import type { ItemKey } from '#runtime/tables/store/item-key.ts'
import type { Table } from '#runtime/tables/table.ts'

/** A request on a table, and what reads its expressions. */
export interface ActionRequest<Fields> {
  readonly table: Table
  readonly fields: Fields
  readonly expressions: Expressions
}

/** A checked put, update or delete. */
export interface ItemChange {
  readonly key: ItemKey
  /** Set when the item it leaves depends on no more than whether there is one before. */
  readonly direct?: DirectWrite
  /** Whether the answer or the refusal shows the item before. */
  readonly showsBefore: boolean
  /** The item that it leaves, undefined for none; the very same to write nothing. Throws when the condition does not hold. */
  readonly after: (before: Item | undefined) => Item | undefined
  /** What `after` throws then. */
  readonly refusal: (before: Item | undefined) => Error
  /** The attributes that the request asked to see, if there are any. */
  readonly shown: (before: Item | undefined, after: Item | undefined) => Item | undefined
}

/** A write that one statement does, without a look at what is there. */
export interface DirectWrite {
  readonly expected: 'any' | 'absent' | 'present'
  readonly item: Item | undefined
}

/** What a condition asks, if it asks no more than whether there is an item. */
export function existenceAskedBy(
  condition: Condition | undefined,
  schema: KeySchema,
): DirectWrite['expected'] | undefined {
  if (condition === undefined) return 'any'
  if (condition.kind !== 'call') return undefined
  const [operand] = condition.operands
  const aboutKey =
    operand?.kind === 'path' &&
    operand.path.length === 1 &&
    keyAttributes(schema).some(({ name }) => name === operand.path[0])
  if (!aboutKey) return undefined
  if (condition.operator === 'attribute_not_exists') return 'absent'
  return condition.operator === 'attribute_exists' ? 'present' : undefined
}

export const conditionHolds = (
  condition: Condition | undefined,
  before: Item | undefined,
): boolean => condition === undefined || itemMatches(condition, before ?? {})

interface ShownOnFailure {
  readonly returnValuesOnConditionCheckFailure?: 'NONE' | 'ALL_OLD'
}

export const showsOnFailure = (fields: ShownOnFailure): boolean =>
  fields.returnValuesOnConditionCheckFailure === 'ALL_OLD'

/** The failure of a condition, with the item before where the request asked for it. */
export const conditionFailure = (fields: ShownOnFailure, before: Item | undefined): AppError =>
  new AppError(
    'ConditionalCheckFailed',
    'The conditional request failed',
    showsOnFailure(fields) && before !== undefined ? { fields: { item: plainItem(before) } } : {},
  )
