import { KeyedMutex } from '#base/keyed-mutex.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { DirectWrite, ItemChange } from '#runtime/tables/actions/item-change.ts'
import type { Item } from '#runtime/tables/items/attribute-value.ts'
import type { Table } from '#runtime/tables/table.ts'

import { storeOf } from './batching-store.ts'
import { retryOnConflict, WriteConflict } from './conflict-retry.ts'
import { type ItemKey, textOfKey } from './item-key.ts'
import { storeIn } from './item-queries.ts'
import type { KnownLayouts, TableLayouts } from './table-layouts.ts'
import type { ItemWrite, TableStore, WriteOutcome } from './table-store.ts'

/** Attempts before the row is locked. */
const UNLOCKED_ATTEMPTS = 3
const ATTEMPTS = 25

/** What a write is done with: single statements, or those of one transaction. */
interface WriteDeps {
  readonly store: TableStore
  readonly layouts: KnownLayouts
}

export interface ItemStoreDeps extends Pick<PlatformServices, 'database' | 'clock'> {
  readonly layouts: TableLayouts
}

/** Changes of single items. Each is as if it were alone, and answered after its commit. */
export class ItemWrites {
  readonly #deps: ItemStoreDeps
  readonly #single: WriteDeps
  readonly #mutex = new KeyedMutex()

  constructor(deps: ItemStoreDeps) {
    this.#deps = deps
    this.#single = { store: storeOf(deps.database, deps.clock), layouts: deps.layouts }
  }

  perform(table: Table, change: ItemChange): Promise<Item | undefined> {
    const { direct } = change
    if (direct !== undefined) return retryOnConflict(() => this.#writeDirect(table, change, direct))
    return this.#mutex.run(mutexKey(table, change), () =>
      retryOnConflict(
        (attempt) =>
          attempt <= UNLOCKED_ATTEMPTS
            ? readAndWrite(this.#single, table, change)
            : this.#lockAndWrite(table, change),
        ATTEMPTS,
      ),
    )
  }

  /** One statement. */
  async #writeDirect(
    table: Table,
    change: ItemChange,
    { expected, item }: DirectWrite,
  ): Promise<Item | undefined> {
    const write = { expected, item, withBefore: change.showsBefore }
    const outcome = await writeWithLayout(this.#single, table, change.key, write)
    if (outcome.outcome === 'changed') throw change.refusal(outcome.before)
    return change.shown(outcome.before, item)
  }

  /** Only an item that did not exist can be changed between its reading and its writing. */
  #lockAndWrite(table: Table, change: ItemChange): Promise<Item | undefined> {
    const { database, clock, layouts } = this.#deps
    return database.withSite(table.siteId, (tx) => {
      const deps = { store: storeIn(tx, clock), layouts: layouts.within(tx) }
      return readAndWrite(deps, table, change, { lock: true })
    })
  }
}

/** Throws `WriteConflict` when another writer came between the reading and the writing. */
async function readAndWrite(
  deps: WriteDeps,
  table: Table,
  change: ItemChange,
  options: { readonly lock: boolean } = { lock: false },
): Promise<Item | undefined> {
  const found = await deps.store.read(table, change.key, options)
  const item = change.after(found.item)
  if (item !== found.item) {
    const write = { expected: found.expected, item, withBefore: false }
    const { outcome } = await writeWithLayout(deps, table, change.key, write)
    if (outcome === 'changed') throw new WriteConflict('An item has changed since it was read')
  }
  return change.shown(found.item, item)
}

/** Writes with the layout that is known. Throws `WriteConflict` when it is not the table's any more, and forgets it. */
export async function writeWithLayout(
  { store, layouts }: WriteDeps,
  table: Table,
  key: ItemKey,
  write: Omit<ItemWrite, 'layout'>,
): Promise<Exclude<WriteOutcome, { outcome: 'stale' }>> {
  const layout = await layouts.of(table)
  const outcome = await store.write(table, key, { ...write, layout })
  if (outcome.outcome !== 'stale') return outcome
  layouts.forget(table)
  throw new WriteConflict('The layout of a table has changed since it was read')
}

const mutexKey = ({ siteId, tableId }: Table, { key }: ItemChange): string =>
  `${siteId} ${tableId} ${textOfKey(key)}`
