import type { Clock } from '#base/clock.ts'
import type { Database } from '#platform/postgres/database.ts'
import { itemSize } from '#runtime/tables/items/size.ts'

import { compareItemKeys, type ItemKey, textOfKey } from './item-key.ts'
import { FunctionStore } from './item-queries.ts'
import { StatementBatcher } from './statement-batcher.ts'
import { isPlainPut, type PlainPut } from './stored-form.ts'
import type { StoredItem } from './stored-item.ts'
import type {
  AddressedKey,
  ItemWrite,
  StoredPageRequest,
  ReadItem,
  StoredPage,
  TableAddress,
  TableStore,
  WriteOutcome,
} from './table-store.ts'

/** Gets and puts of one statement at most. An item has 400 KiB at most, so the gets of a statement bring 6.4 MB. */
const MOST_GETS = 16
const MOST_PUTS = 32
/** Bytes of an item beyond which its put goes alone. */
const SMALL_ITEM_BYTES = 16 * 1024

/** Each call in a transaction of its own; gets of one site, and plain puts into one table, several in one. */
export const storeOf = (database: Database, clock: Clock): TableStore =>
  new BatchingStore(
    new FunctionStore((text, parameters) => database.statement(text, parameters), clock),
  )

interface Put {
  readonly table: TableAddress
  readonly key: ItemKey
  readonly put: PlainPut
}

class BatchingStore implements TableStore {
  readonly #store: FunctionStore
  readonly #gets: StatementBatcher<AddressedKey, StoredItem | undefined>
  readonly #puts: StatementBatcher<Put, WriteOutcome>

  constructor(store: FunctionStore) {
    this.#store = store
    this.#gets = new StatementBatcher({
      send: (siteId, keys) => this.#getAll(siteId, keys),
      most: MOST_GETS,
    })
    this.#puts = new StatementBatcher({
      send: (_lane, puts) => this.#putAll(puts),
      most: MOST_PUTS,
    })
  }

  get({ siteId, tableId }: TableAddress, key: ItemKey): Promise<StoredItem | undefined> {
    return this.#gets.add(siteId, { tableId, key })
  }

  getMany(siteId: string, keys: readonly AddressedKey[]): Promise<(StoredItem | undefined)[]> {
    return this.#store.getMany(siteId, keys)
  }

  read(table: TableAddress, key: ItemKey, options?: { lock: boolean }): Promise<ReadItem> {
    return this.#store.read(table, key, options)
  }

  write(table: TableAddress, key: ItemKey, write: ItemWrite): Promise<WriteOutcome> {
    if (!isPlainPut(write) || itemSize(write.item) > SMALL_ITEM_BYTES) {
      return this.#store.write(table, key, write)
    }
    const lane = `${table.siteId} ${table.tableId} ${write.layout.generation}`
    return this.#puts.add(lane, { table, key, put: write })
  }

  page(table: TableAddress, request: StoredPageRequest): Promise<StoredPage> {
    return this.#store.page(table, request)
  }

  async #getAll(
    siteId: string,
    keys: readonly [AddressedKey, ...AddressedKey[]],
  ): Promise<readonly (StoredItem | undefined)[]> {
    const [{ tableId, key }] = keys
    return keys.length > 1
      ? this.#store.getMany(siteId, keys)
      : [await this.#store.get({ siteId, tableId }, key)]
  }

  /** Of puts of one key the last one counts: they came at the same time, and in this order. */
  async #putAll(puts: readonly [Put, ...Put[]]): Promise<readonly WriteOutcome[]> {
    const [{ table, key, put }] = puts
    if (puts.length === 1) return [await this.#store.write(table, key, put)]
    const last = new Map(puts.map((each) => [textOfKey(each.key), each]))
    const inOrder = [...last.values()].toSorted((one, other) => compareItemKeys(one.key, other.key))
    const outcome: WriteOutcome = (await this.#store.putMany(table, inOrder))
      ? { outcome: 'done', before: undefined }
      : { outcome: 'stale' }
    return puts.map(() => outcome)
  }
}
