import type { BatchGetRequest } from '#runtime/tables/api/action-fields.ts'
import type { Expressions } from '#runtime/tables/expressions/expressions.ts'
import { checkNestedPaths } from '#runtime/tables/expressions/key-rules.ts'
import { type Projection, project } from '#runtime/tables/expressions/project.ts'
import type { Item } from '#runtime/tables/items/attribute-value.ts'
import { checkItemKey } from '#runtime/tables/items/key-schema.ts'
import { type PlainItem, plainItem } from '#runtime/tables/items/plain-json.ts'
import { readPlainItem } from '#runtime/tables/items/plain-value.ts'
import { itemSize, MAX_ITEM_BYTES } from '#runtime/tables/items/size.ts'
import type { ItemRef } from '#runtime/tables/store/item-ref.ts'

import { type BatchPlan, checkDistinct } from './plan.ts'

const MAX_ANSWER_BYTES = 16 * 1024 * 1024
/** Read at once, so that what is read and what may be answered are of one size. */
const KEYS_AT_ONCE = Math.floor(MAX_ANSWER_BYTES / MAX_ITEM_BYTES)

/** What was read for one request of a batch. */
export interface FoundBatch {
  readonly items: PlainItem[]
  /** As they were sent. */
  readonly unprocessedKeys: Readonly<Record<string, unknown>>[]
}

interface WantedItem {
  /** The place of its request among the others. */
  readonly at: number
  readonly ref: ItemRef
  readonly sent: Readonly<Record<string, unknown>>
  readonly projection: Projection | undefined
}

/** Reads until the answer holds 16 MiB; the keys beyond that come back as unprocessed. */
export function readBatchGet(
  requests: readonly BatchGetRequest[],
  expressions: Expressions,
): BatchPlan<readonly FoundBatch[]> {
  const wanted = requests.flatMap((request, at) => readKeys(request, at, expressions))
  for (const { ref, projection } of wanted) {
    checkItemKey(ref.key, ref.table.schema)
    checkNestedPaths(projection?.paths ?? [], ref.table.schema)
  }
  const refs = wanted.map(({ ref }) => ref)
  checkDistinct(refs, 'Provided list of item keys contains duplicates')
  return {
    refs,
    async perform(tx, { items }) {
      const found = requests.map((): FoundBatch => ({ items: [], unprocessedKeys: [] }))
      const read = (some: readonly ItemRef[]) => items.read(tx, some)
      for (const { at, sent } of await readInto(found, wanted, read)) {
        found[at]?.unprocessedKeys.push(sent)
      }
      return found
    },
  }
}

function readKeys(request: BatchGetRequest, at: number, expressions: Expressions): WantedItem[] {
  const { table, keys } = request
  const { projection } = expressions.bind(request, ['projectionExpression'])
  return keys.map((sent) => ({ at, sent, ref: { table, key: readPlainItem(sent) }, projection }))
}

/** Gives what was left unread because the answer is full. */
async function readInto(
  found: readonly FoundBatch[],
  wanted: readonly WantedItem[],
  read: (refs: readonly ItemRef[]) => Promise<readonly (Item | undefined)[]>,
): Promise<readonly WantedItem[]> {
  let bytes = 0
  for (let first = 0; first < wanted.length; first += KEYS_AT_ONCE) {
    const some = wanted.slice(first, first + KEYS_AT_ONCE)
    const stored = await read(some.map(({ ref }) => ref))
    for (const [index, { at, projection }] of some.entries()) {
      const item = stored[index]
      if (item === undefined) continue
      bytes += itemSize(item)
      if (bytes > MAX_ANSWER_BYTES) return wanted.slice(first + index)
      const shown = projection === undefined ? item : project(projection, item)
      found[at]?.items.push(plainItem(shown))
    }
  }
  return []
}
