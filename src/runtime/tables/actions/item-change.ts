import type { BoundCondition } from '#runtime/tables/expressions/bind-condition.ts'
import { matches } from '#runtime/tables/expressions/matches.ts'
import type { Item } from '#runtime/tables/items/attribute-value.ts'
import { type KeySchema, keyAttributes } from '#runtime/tables/items/key-schema.ts'
import type { ItemKey } from '#runtime/tables/store/item-key.ts'

import { type ActionAnswer, type ActionRequest, conditionFailed } from './action.ts'
import { text } from './parameters.ts'

/** A checked PutItem, UpdateItem or DeleteItem. */
export interface ItemChange {
  readonly key: ItemKey
  /** Set when the item it leaves depends on no more than whether there is one before. */
  readonly blind?: BlindChange
  /** Whether the answer or the refusal shows the item before. */
  readonly showsBefore: boolean
  /** The item that it leaves, undefined for none; the very same to write nothing. Throws when the condition does not hold. */
  readonly after: (before: Item | undefined) => Item | undefined
  /** What `after` throws then. */
  readonly refusal: (before: Item | undefined) => Error
  readonly answer: (before: Item | undefined, after: Item | undefined) => ActionAnswer
}

export interface BlindChange {
  readonly expected: 'any' | 'absent' | 'present'
  readonly item: Item | undefined
}

/** What a condition asks, if it asks no more than whether there is an item. */
export function existenceAskedBy(
  bound: BoundCondition | undefined,
  schema: KeySchema,
): BlindChange['expected'] | undefined {
  if (bound === undefined) return 'any'
  const { condition } = bound
  if (condition.kind !== 'call') return undefined
  const [operand] = condition.operands
  const aboutKey =
    operand?.kind === 'path' &&
    operand.path.length === 1 &&
    keyAttributes(schema).some(({ name }) => name === operand.path[0])
  if (!aboutKey) return undefined
  if (condition.name === 'attribute_not_exists') return 'absent'
  return condition.name === 'attribute_exists' ? 'present' : undefined
}

export const holds = (bound: BoundCondition | undefined, before: Item | undefined): boolean =>
  bound === undefined || matches(bound.condition, before ?? {})

/** What a failed condition shows of the item, in the form of the request. */
export function refusalOf({ body, codec }: ActionRequest, before: Item | undefined): Error {
  const shown = showsOnFailure(body) && before !== undefined
  return conditionFailed(shown ? codec.writeItem(before) : undefined)
}

export const showsOnFailure = (body: ActionRequest['body']): boolean =>
  text(body, 'ReturnValuesOnConditionCheckFailure') === 'ALL_OLD'
