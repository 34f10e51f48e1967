import type { Clock } from '#base/clock.ts'
import { StatementBatcher } from '#base/statement-batcher.ts'
import type { Database } from '#platform/postgres/database.ts'
import { itemSize } from '#runtime/tables/items/size.ts'

import { compareItemKeys, type ItemKey, textOfKey } from './item-key.ts'
import { FunctionStore } from './item-queries.ts'
import { isPlainPut, type PlainPut } from './stored-form.ts'
import type { StoredItem } from './stored-item.ts'
import type { AddressedKey, TableAddress, TableStore, WriteOutcome } from './table-store.ts'

/** Gets and puts of one statement at most. An item has 400 KiB at most, so the gets of a statement bring 6.4 MB. */
const MOST_GETS = 16
const MOST_PUTS = 32
/** Bytes of an item beyond which its put goes alone. */
const SMALL_ITEM_BYTES = 16 * 1024

interface Put {
  readonly table: TableAddress
  readonly key: ItemKey
  readonly put: PlainPut
}

/** Each call in a transaction of its own; gets of one site, and plain puts into one table, several in one. */
export function storeOf(database: Database, clock: Clock): TableStore {
  const store = new FunctionStore((text, parameters) => database.statement(text, parameters), clock)
  const gets = new StatementBatcher<AddressedKey, StoredItem | undefined>({
    send: (siteId, keys) => getAll(store, siteId, keys),
    most: MOST_GETS,
  })
  const puts = new StatementBatcher<Put, WriteOutcome>({
    send: (_batch, some) => putAll(store, some),
    most: MOST_PUTS,
  })
  return {
    get: ({ siteId, tableId }, key) => gets.add(siteId, { tableId, key }),
    getMany: (siteId, keys) => store.getMany(siteId, keys),
    read: (table, key, options) => store.read(table, key, options),
    write(table, key, write) {
      if (!isPlainPut(write) || itemSize(write.item) > SMALL_ITEM_BYTES) {
        return store.write(table, key, write)
      }
      const batch = `${table.siteId} ${table.tableId} ${write.layout.generation}`
      return puts.add(batch, { table, key, put: write })
    },
    page: (table, request) => store.page(table, request),
  }
}

async function getAll(
  store: FunctionStore,
  siteId: string,
  keys: readonly [AddressedKey, ...AddressedKey[]],
): Promise<readonly (StoredItem | undefined)[]> {
  const [{ tableId, key }] = keys
  return keys.length > 1 ? store.getMany(siteId, keys) : [await store.get({ siteId, tableId }, key)]
}

/** When several puts have one key, the last one counts: they came at the same time, and in this order. */
async function putAll(
  store: FunctionStore,
  puts: readonly [Put, ...Put[]],
): Promise<readonly WriteOutcome[]> {
  const [{ table, key, put }] = puts
  if (puts.length === 1) return [await store.write(table, key, put)]
  const last = new Map(puts.map((each) => [textOfKey(each.key), each]))
  const inOrder = [...last.values()].toSorted((one, other) => compareItemKeys(one.key, other.key))
  const outcome: WriteOutcome = (await store.putMany(table, inOrder))
    ? { outcome: 'done', before: undefined }
    : { outcome: 'stale' }
  return puts.map(() => outcome)
}
