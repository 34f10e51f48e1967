import type { BatchWriteRequest } from '#runtime/tables/api/action-fields.ts'
import { attributeOf, type Item, typeOf } from '#runtime/tables/items/attribute-value.ts'
import {
  checkItemKey,
  checkItemKeys,
  keyAttributes,
  keyOf,
  type TableSchema,
} from '#runtime/tables/items/key-schema.ts'
import { readPlainItem } from '#runtime/tables/items/plain-value.ts'
import { checkItemSize } from '#runtime/tables/items/size.ts'
import type { Table } from '#runtime/tables/table.ts'
import { validationError } from '#runtime/tables/validation-error.ts'

import { type BatchChange, type BatchPlan, checkDistinct, meterChanges } from './plan.ts'

const MAX_WRITES = 25

/** Writes all of it or nothing, so that nothing is ever left unprocessed. */
export function readBatchWrite(requests: readonly BatchWriteRequest[]): BatchPlan<void> {
  const writes = requests.map(readWrite)
  if (writes.length > MAX_WRITES) {
    throw validationError('Too many items requested for the BatchWriteItem call')
  }
  const changes = writes.map(({ table, key, item }): BatchChange => {
    if (item === undefined) checkItemKey(key, table.schema)
    else checkPut(item, table.schema)
    return { ref: { table, key: keyOf(key, table.schema) }, item }
  })
  const refs = changes.map(({ ref }) => ref)
  checkDistinct(refs, 'Provided list of item keys contains duplicates')
  return {
    refs,
    async perform(tx, { items, meter }) {
      if (!meter.exact) await items.reserve(tx, refs)
      const stored = meter.exact ? await items.lock(tx, refs) : []
      meterChanges(
        meter,
        changes.map((change, at) => ({ ...change, before: stored[at] })),
      )
      await items.write(tx, changes)
    },
  }
}

interface ReadWrite {
  readonly table: Table
  readonly key: Item
  readonly item: Item | undefined
}

function readWrite(request: BatchWriteRequest): ReadWrite {
  const { table } = request
  if ('key' in request) return { table, key: readPlainItem(request.key), item: undefined }
  const item = readPlainItem(request.item)
  checkItemSize(item)
  return { table, key: item, item }
}

/** DynamoDB says less about a key in a batch than about one put alone: not which attribute is wrong. */
function checkPut(item: Item, schema: TableSchema): void {
  for (const { name, type } of keyAttributes(schema)) {
    const value = attributeOf(item, name)
    if (value !== undefined && typeOf(value) === type) continue
    throw validationError('The provided key element does not match the schema')
  }
  checkItemKeys(item, schema)
}
