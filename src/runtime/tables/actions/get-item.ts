import type { ItemCodec } from '#runtime/tables/codec.ts'
import { checkNestedPaths } from '#runtime/tables/expressions/key-rules.ts'
import { type Projection, project } from '#runtime/tables/expressions/project.ts'
import { checkKey } from '#runtime/tables/items/key-schema.ts'
import { type ItemKey, itemKeyOf } from '#runtime/tables/store/item-key.ts'
import { itemOf, type StoredItem } from '#runtime/tables/store/stored-item.ts'

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
  readonly answer: (stored: StoredItem | undefined) => ActionAnswer
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
    answer: (stored) =>
      stored === undefined ? {} : { Item: writtenOf(stored, projection, codec) },
  }
}

/** What a read answers of an item. */
export const writtenOf = (
  stored: StoredItem,
  projection: Projection | undefined,
  codec: ItemCodec,
): unknown =>
  projection === undefined
    ? codec.writeStored(stored)
    : codec.writeItem(project(projection, itemOf(stored)))
