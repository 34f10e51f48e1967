import { checkItemKeys } from '#runtime/tables/items/key-schema.ts'
import { checkItemSize } from '#runtime/tables/items/size.ts'

import { type ActionRequest, bindExpressions, checkRequest, readItem } from './action.ts'
import type { ItemChange } from './item-change.ts'
import { PUT_ITEM } from './parameter-rules.ts'
import { checkReturnValues, replaceItem } from './replace-item.ts'

const PARAMETERS = ['ConditionExpression'] as const

export function readPutItem(request: ActionRequest): ItemChange {
  checkRequest(request, PUT_ITEM, PARAMETERS)
  const item = readItem(request, 'Item')
  checkReturnValues(request.body)
  checkItemSize(item)
  const bound = bindExpressions(request, PARAMETERS)
  checkItemKeys(item, request.table.schema)
  return replaceItem(request, bound, { key: item, item })
}
