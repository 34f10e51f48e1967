import type { DeleteRequest, PutRequest } from '#runtime/tables/api/action-fields.ts'
import { type BoundExpressions, checkPresence } from '#runtime/tables/expressions/expressions.ts'
import type { Item } from '#runtime/tables/items/attribute-value.ts'
import { checkItemKey, checkItemKeys } from '#runtime/tables/items/key-schema.ts'
import { readPlainItem } from '#runtime/tables/items/plain-value.ts'
import { checkItemSize } from '#runtime/tables/items/size.ts'
import { itemKeyOf } from '#runtime/tables/store/item-key.ts'

import {
  type ActionRequest,
  conditionFailure,
  conditionHolds,
  existenceAskedBy,
  type ItemChange,
  showsOnFailure,
} from './item-change.ts'

const EXPRESSIONS = ['conditionExpression'] as const

export function readPut(request: ActionRequest<PutRequest>): ItemChange {
  const { table, fields, expressions } = request
  checkPresence(fields, EXPRESSIONS)
  const item = readPlainItem(fields.item)
  checkItemSize(item)
  const bound = expressions.bind(fields, EXPRESSIONS)
  checkItemKeys(item, table.schema)
  return replaceItem(request, bound, { key: item, item })
}

export function readDelete(request: ActionRequest<DeleteRequest>): ItemChange {
  const { table, fields, expressions } = request
  checkPresence(fields, EXPRESSIONS)
  const key = readPlainItem(fields.key)
  const bound = expressions.bind(fields, EXPRESSIONS)
  checkItemKey(key, table.schema)
  return replaceItem(request, bound, { key, item: undefined })
}

/** A change to what does not depend on what was there: `item` in the place of `key`, or nothing. */
function replaceItem(
  { table, fields }: ActionRequest<PutRequest | DeleteRequest>,
  { condition }: BoundExpressions,
  { key, item }: { readonly key: Item; readonly item: Item | undefined },
): ItemChange {
  const expected = existenceAskedBy(condition, table.schema)
  const returnsOld = fields.returnValues === 'ALL_OLD'
  const refusal: ItemChange['refusal'] = (before) => conditionFailure(fields, before)
  return {
    key: itemKeyOf(key, table.schema),
    ...(expected !== undefined && { direct: { expected, item } }),
    showsBefore: returnsOld || showsOnFailure(fields),
    after(before) {
      if (!conditionHolds(condition, before)) throw refusal(before)
      return item
    },
    refusal,
    shown: (before) => (returnsOld ? before : undefined),
  }
}
