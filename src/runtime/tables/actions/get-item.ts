import type { GetRequest } from '#runtime/tables/api/action-fields.ts'
import { checkPresence } from '#runtime/tables/expressions/expressions.ts'
import { checkNestedPaths } from '#runtime/tables/expressions/key-rules.ts'
import { type Projection, project } from '#runtime/tables/expressions/project.ts'
import { checkItemKey } from '#runtime/tables/items/key-schema.ts'
import { plainItem } from '#runtime/tables/items/plain-json.ts'
import { readPlainItem } from '#runtime/tables/items/plain-value.ts'
import { type ItemKey, itemKeyOf } from '#runtime/tables/store/item-key.ts'
import { itemOf, type StoredItem } from '#runtime/tables/store/stored-item.ts'

import type { ActionRequest } from './item-change.ts'

const EXPRESSIONS = ['projectionExpression'] as const

/** A checked get. */
interface ItemLookup {
  readonly key: ItemKey
  readonly projection: Projection | undefined
}

export function readGet({ table, fields, expressions }: ActionRequest<GetRequest>): ItemLookup {
  checkPresence(fields, EXPRESSIONS)
  const key = readPlainItem(fields.key)
  const { projection } = expressions.bind(fields, EXPRESSIONS)
  checkItemKey(key, table.schema)
  checkNestedPaths(projection?.paths ?? [], table.schema)
  return { key: itemKeyOf(key, table.schema), projection }
}

/** What a read answers of an item. */
export const projected = (stored: StoredItem, projection: Projection | undefined): StoredItem =>
  projection === undefined ? stored : plainItem(project(projection, itemOf(stored)))
