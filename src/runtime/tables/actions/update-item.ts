import { applyUpdate } from '#runtime/tables/expressions/apply-update.ts'
import { checkUpdatedIndexKeys, checkUpdateKeys } from '#runtime/tables/expressions/key-rules.ts'
import { project, projectionOf } from '#runtime/tables/expressions/project.ts'
import type { Update } from '#runtime/tables/expressions/update.ts'
import type { Item } from '#runtime/tables/items/attribute-value.ts'
import { checkKey } from '#runtime/tables/items/key-schema.ts'
import { checkUpdatedSize } from '#runtime/tables/items/size.ts'
import { itemKeyOf } from '#runtime/tables/store/item-key.ts'

import {
  type ActionAnswer,
  type ActionRequest,
  bindExpressions,
  checkRequest,
  readItem,
} from './action.ts'
import { holds, type ItemChange, refusalOf } from './item-change.ts'
import { UPDATE_ITEM } from './parameter-rules.ts'
import { text } from './parameters.ts'

const PARAMETERS = ['UpdateExpression', 'ConditionExpression'] as const
const NO_UPDATE: Update = { actions: [], targets: [], paths: [] }

export function readUpdateItem(request: ActionRequest): ItemChange {
  const { table } = request
  checkRequest(request, UPDATE_ITEM, PARAMETERS)
  const key = readItem(request, 'Key')
  const { update = NO_UPDATE, condition } = bindExpressions(request, PARAMETERS)
  checkKey(key, table.schema)
  checkUpdateKeys(update, table.schema)
  const refusal: ItemChange['refusal'] = (before) => refusalOf(request, before)
  return {
    key: itemKeyOf(key, table.schema),
    showsBefore: true,
    after(before) {
      if (!holds(condition, before)) throw refusal(before)
      const after = applyUpdate(update, { stored: before, key, schema: table.schema })
      if (after === undefined) return undefined
      checkUpdatedIndexKeys(update, after, table.schema)
      checkUpdatedSize(after)
      return after
    },
    refusal,
    answer: (before, after) => answerOf(request, update, { before, after }),
  }
}

function answerOf(
  { body, codec }: ActionRequest,
  update: Update,
  { before, after }: { readonly before: Item | undefined; readonly after: Item | undefined },
): ActionAnswer {
  const shown = (item: Item | undefined): ActionAnswer =>
    item === undefined ? {} : { Attributes: codec.writeItem(item) }
  const touched = (item: Item | undefined) => item && partOf(update, item)
  const returned = text(body, 'ReturnValues')
  if (returned === 'ALL_OLD') return shown(before)
  if (returned === 'ALL_NEW') return shown(after)
  if (returned === 'UPDATED_OLD') return shown(touched(before))
  return returned === 'UPDATED_NEW' ? shown(touched(after)) : {}
}

/** What an update touches of an item; undefined when that is nothing, which DynamoDB leaves out of its answer. */
function partOf({ targets }: Update, item: Item): Item | undefined {
  const part = project(projectionOf(targets), item)
  return Object.keys(part).length === 0 ? undefined : part
}
