import { checkNestedPaths } from '#runtime/tables/expressions/key-rules.ts'
import { type Projection, project } from '#runtime/tables/expressions/project.ts'
import type { Item } from '#runtime/tables/items/attribute-value.ts'
import { checkKey } from '#runtime/tables/items/key-schema.ts'
import { type ItemKey, itemKeyOf } from '#runtime/tables/store/item-key.ts'

import {
  type ActionAnswer,
  type ActionRequest,
  bindExpressions,
  checkRequest,
  readItem,
} from './action.ts'
import { GET_ITEM } from './parameter-rules.ts'

const PARAMETERS = ['ProjectionExpression'] as const

/** A checked GetItem. */
export interface ItemLookup {
  readonly key: ItemKey
  readonly answer: (item: Item | undefined) => ActionAnswer
}

export function readGetItem(request: ActionRequest): ItemLookup {
  const { table, codec } = request
  checkRequest(request, GET_ITEM, PARAMETERS)
  const key = readItem(request, 'Key')
  const { projection } = bindExpressions(request, PARAMETERS)
  checkKey(key, table.schema)
  checkNestedPaths(projection?.paths ?? [], table.schema)
  return {
    key: itemKeyOf(key, table.schema),
    answer: (item) =>
      item === undefined ? {} : { Item: codec.writeItem(projected(projection, item)) },
  }
}

export const projected = (projection: Projection | undefined, item: Item): Item =>
  projection === undefined ? item : project(projection, item)
