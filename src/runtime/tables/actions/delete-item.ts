import { checkKey } from '#runtime/tables/items/key-schema.ts'

import { type ActionRequest, bindExpressions, checkRequest, readItem } from './action.ts'
import type { ItemChange } from './item-change.ts'
import { DELETE_ITEM } from './parameter-rules.ts'
import { checkReturnValues, replaceItem } from './replace-item.ts'

const PARAMETERS = ['ConditionExpression'] as const

export function readDeleteItem(request: ActionRequest): ItemChange {
  checkRequest(request, DELETE_ITEM, PARAMETERS)
  const key = readItem(request, 'Key')
  checkReturnValues(request.body)
  const bound = bindExpressions(request, PARAMETERS)
  checkKey(key, request.table.schema)
  return replaceItem(request, bound, { key, item: undefined })
}
