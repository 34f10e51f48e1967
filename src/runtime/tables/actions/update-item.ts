import type { UpdateRequest } from '#runtime/tables/api/action-fields.ts'
import { applyUpdate } from '#runtime/tables/expressions/apply-update.ts'
import { NO_UPDATE, type Update } from '#runtime/tables/expressions/bind-update.ts'
import { checkPresence } from '#runtime/tables/expressions/expressions.ts'
import { checkUpdatedIndexKeys, checkUpdateKeys } from '#runtime/tables/expressions/key-rules.ts'
import { project, projectionOf } from '#runtime/tables/expressions/project.ts'
import type { Item } from '#runtime/tables/items/attribute-value.ts'
import { checkItemKey } from '#runtime/tables/items/key-schema.ts'
import { readPlainItem } from '#runtime/tables/items/plain-value.ts'
import { checkItemSize } from '#runtime/tables/items/size.ts'
import { itemKeyOf } from '#runtime/tables/store/item-key.ts'
import type { Table } from '#runtime/tables/table.ts'

import {
  type ActionRequest,
  conditionFailure,
  conditionHolds,
  type ItemChange,
} from './item-change.ts'

const EXPRESSIONS = ['updateExpression', 'conditionExpression'] as const

export function readUpdate({
  table,
  fields,
  expressions,
}: ActionRequest<UpdateRequest>): ItemChange {
  checkPresence(fields, EXPRESSIONS)
  const key = readPlainItem(fields.key)
  const { update = NO_UPDATE, condition } = expressions.bind(fields, EXPRESSIONS)
  checkItemKey(key, table.schema)
  checkUpdateKeys(update, table.schema)
  const refusal: ItemChange['refusal'] = (before) => conditionFailure(fields, before)
  return {
    key: itemKeyOf(key, table.schema),
    showsBefore: true,
    after(before) {
      if (!conditionHolds(condition, before)) throw refusal(before)
      return updatedItem(update, table, { key, before })
    },
    refusal,
    shown: (before, after) => shownOf(fields, update, { before, after }),
  }
}

/** The item that an update leaves. Throws where it does not fit the table or is too large. */
export function updatedItem(
  update: Update,
  { schema }: Table,
  { key, before }: { readonly key: Item; readonly before: Item | undefined },
): Item | undefined {
  const after = applyUpdate(update, { stored: before, key, schema })
  if (after === undefined) return undefined
  checkUpdatedIndexKeys(update, after, schema)
  checkItemSize(after, 'update')
  return after
}

function shownOf(
  { returnValues }: UpdateRequest,
  update: Update,
  { before, after }: { readonly before: Item | undefined; readonly after: Item | undefined },
): Item | undefined {
  if (returnValues === 'ALL_OLD') return before
  if (returnValues === 'ALL_NEW') return after
  if (returnValues === 'UPDATED_OLD') return before && touchedPart(update, before)
  return returnValues === 'UPDATED_NEW' ? after && touchedPart(update, after) : undefined
}

/** What an update touches of an item; undefined when that is nothing, which DynamoDB leaves out of its answer. */
function touchedPart({ actions }: Update, item: Item): Item | undefined {
  const part = project(projectionOf(actions.map(({ path }) => path)), item)
  return Object.keys(part).length === 0 ? undefined : part
}
