import type { SiteTx } from '#platform/postgres/database.ts'
import type { Item } from '#runtime/tables/items/attribute-value.ts'
import type { Table } from '#runtime/tables/table.ts'

import { WriteConflict } from './conflict-retry.ts'
import { compareItemKeys, type ItemKey, itemKeyOf, textOfKey } from './item-key.ts'
import { storeIn } from './item-queries.ts'
import type { ItemRef } from './item-ref.ts'
import { type ItemStoreDeps, writeWithLayout } from './item-writes.ts'
import { lockRefs } from './lock-queries.ts'
import { itemOf } from './stored-item.ts'
import type { Expected } from './table-store.ts'

interface Placed {
  readonly table: Table
  readonly key: ItemKey
  readonly at: number
}

/**
 * Items of several tables of one site, inside a transaction of the caller's. A caller that locks and writes runs the whole
 * transaction with `retryOnConflict`: an item that did not exist cannot be locked, and is found out by the write.
 */
export class BatchItems {
  readonly #deps: Pick<ItemStoreDeps, 'clock' | 'layouts'>
  readonly #locked = new WeakMap<SiteTx, Map<string, Expected>>()

  constructor(deps: Pick<ItemStoreDeps, 'clock' | 'layouts'>) {
    this.#deps = deps
  }

  /** One statement. In the order of the refs; undefined where there is none, or where it has expired. */
  async read(tx: SiteTx, refs: readonly ItemRef[]): Promise<readonly (Item | undefined)[]> {
    const keys = refs.map(({ table, key }) => ({
      tableId: table.tableId,
      key: itemKeyOf(key, table.schema),
    }))
    const found = await storeIn(tx, this.#deps.clock).getMany(tx.siteId, keys)
    return found.map((stored) => stored && itemOf(stored))
  }

  /** Keeps other batches and transactions away from items, whether they exist or not, until the transaction ends. */
  reserve(tx: SiteTx, refs: readonly ItemRef[]): Promise<void> {
    return lockRefs(tx, refs)
  }

  /** Reserves items and reads them; `write` then writes of them only what no other transaction changed. */
  async lock(tx: SiteTx, refs: readonly ItemRef[]): Promise<readonly (Item | undefined)[]> {
    await this.reserve(tx, refs)
    const store = storeIn(tx, this.#deps.clock)
    const expected = this.#locked.get(tx) ?? new Map<string, Expected>()
    this.#locked.set(tx, expected)
    const items: (Item | undefined)[] = refs.map(() => undefined)
    for (const { table, key, at } of inLockOrder(refs)) {
      const found = await store.read(table, key, { lock: true })
      items[at] = found.item
      expected.set(textOf(table, key), found.expected)
    }
    return items
  }

  /** Puts items, and removes those that are undefined. Whatever is there is replaced, unless it was locked before. */
  async write(
    tx: SiteTx,
    changes: readonly { readonly ref: ItemRef; readonly item: Item | undefined }[],
  ): Promise<void> {
    const deps = { store: storeIn(tx, this.#deps.clock), layouts: this.#deps.layouts.within(tx) }
    for (const { table, key, at } of inLockOrder(changes.map(({ ref }) => ref))) {
      const expected = this.#locked.get(tx)?.get(textOf(table, key)) ?? 'any'
      const item = changes[at]?.item
      const write = { expected, item, withBefore: false }
      const { outcome } = await writeWithLayout(deps, table, key, write)
      if (outcome === 'changed') throw new WriteConflict('The item has changed since it was read')
    }
  }
}

/** All transactions lock in one order, so none waits for one that waits for it. */
function inLockOrder(refs: readonly ItemRef[]): readonly Placed[] {
  return refs
    .map(({ table, key }, at) => ({ table, key: itemKeyOf(key, table.schema), at }))
    .toSorted(
      (one, other) =>
        compareTexts(one.table.tableId, other.table.tableId) || compareItemKeys(one.key, other.key),
    )
}

const compareTexts = (one: string, other: string): number =>
  one < other ? -1 : one > other ? 1 : 0

const textOf = ({ tableId }: Table, key: ItemKey): string => `${tableId} ${textOfKey(key)}`
