import type { BoundExpressions } from '#runtime/tables/expressions/expressions.ts'
import { invalidRequest } from '#runtime/tables/fault.ts'
import type { Item } from '#runtime/tables/items/attribute-value.ts'
import { itemKeyOf } from '#runtime/tables/store/item-key.ts'

import type { ActionRequest } from './action.ts'
import {
  existenceAskedBy,
  holds,
  type ItemChange,
  refusalOf,
  showsOnFailure,
} from './item-change.ts'
import { text } from './parameters.ts'

/** A change to what does not depend on what was there: `item` in the place of `key`, or nothing. */
export function replaceItem(
  request: ActionRequest,
  { condition }: BoundExpressions,
  { key, item }: { readonly key: Item; readonly item: Item | undefined },
): ItemChange {
  const { table, body, codec } = request
  const expected = existenceAskedBy(condition, table.schema)
  const returnsOld = text(body, 'ReturnValues') === 'ALL_OLD'
  const refusal: ItemChange['refusal'] = (before) => refusalOf(request, before)
  return {
    key: itemKeyOf(key, table.schema),
    ...(expected !== undefined && { blind: { expected, item } }),
    showsBefore: returnsOld || showsOnFailure(body),
    after(before) {
      if (!holds(condition, before)) throw refusal(before)
      return item
    },
    refusal,
    answer: (before) =>
      returnsOld && before !== undefined ? { Attributes: codec.writeItem(before) } : {},
  }
}

export function checkReturnValues(body: ActionRequest['body']): void {
  const given = text(body, 'ReturnValues')
  if (given === undefined || given === 'ALL_OLD' || given === 'NONE') return
  throw invalidRequest('ReturnValues can only be ALL_OLD or NONE')
}
