import type { Clock } from '#base/clock.ts'
import { KeyedMutex } from '#base/keyed-mutex.ts'
import type { Database } from '#platform/postgres/database.ts'
import type { ItemChange } from '#runtime/tables/actions/item-change.ts'
import type { Item } from '#runtime/tables/items/attribute-value.ts'
import type { Table } from '#runtime/tables/table.ts'

import { storeOf } from './batching-store.ts'
import { retryOnConflict, tooBusy } from './conflict-retry.ts'
import { textOfKey } from './item-key.ts'
import { storeIn } from './item-queries.ts'
import type { TableLayout } from './layout.ts'
import type { KnownLayouts, TableLayouts } from './table-layouts.ts'
import type { Expected, ItemWrite, TableStore, WriteOutcome } from './table-store.ts'

/** Writes that are refused because another came first, before the row is locked. */
const FREE_TRIES = 3
const LOCKED_TRIES = 20
/** A layout changes when somebody changes the table's definition. */
const LAYOUT_TRIES = 10

/** An item as it was found, and what a write has to expect. */
interface Found {
  readonly item: Item | undefined
  readonly expected: Expected
}

/** What a write is done with: single statements, or those of one transaction. */
interface Means {
  readonly store: TableStore
  readonly layouts: KnownLayouts
}

/** Changes of single items. Each is as if it were alone, and answered after its commit. */
export class ItemWrites {
  readonly #database: Database
  readonly #clock: Clock
  readonly #layouts: TableLayouts
  readonly #single: Means
  readonly #mutex = new KeyedMutex()

  constructor(deps: {
    readonly database: Database
    readonly clock: Clock
    readonly layouts: TableLayouts
  }) {
    this.#database = deps.database
    this.#clock = deps.clock
    this.#layouts = deps.layouts
    this.#single = { store: storeOf(deps.database, deps.clock), layouts: deps.layouts }
  }

  perform(table: Table, change: ItemChange): Promise<Item | undefined> {
    return retryOnConflict(() =>
      change.direct === undefined
        ? this.#mutex.run(mutexKey(table, change), () => this.#reading(table, change))
        : this.#direct(table, change, change.direct),
    )
  }

  /** One statement. */
  async #direct(
    table: Table,
    change: ItemChange,
    { expected, item }: NonNullable<ItemChange['direct']>,
  ): Promise<Item | undefined> {
    const write = { expected, item, withBefore: change.showsBefore }
    const outcome = await this.#write(this.#single, table, change, write)
    if (outcome.outcome === 'changed') throw change.refusal(outcome.before)
    return change.shown(outcome.before, item)
  }

  /** Reads, then writes if nobody else did; after some tries with the row locked. */
  async #reading(table: Table, change: ItemChange): Promise<Item | undefined> {
    const { item, expected } = await this.#single.store.read(table, change.key)
    let found: Found = { item, expected }
    for (let tries = 0; tries < FREE_TRIES; tries++) {
      const outcome = await this.#attempt(this.#single, table, change, found)
      if ('answer' in outcome) return outcome.answer
      found = outcome.found
    }
    return this.#locking(table, change)
  }

  async #locking(table: Table, change: ItemChange): Promise<Item | undefined> {
    for (let tries = 0; tries < LOCKED_TRIES; tries++) {
      const outcome = await this.#database.withSite(table.siteId, async (tx) => {
        const store = storeIn(tx, this.#clock)
        const { item, expected } = await store.read(table, change.key, { lock: true })
        const means = { store, layouts: this.#layouts.within(tx) }
        return this.#attempt(means, table, change, { item, expected })
      })
      // Only an item that did not exist can have been changed in between.
      if ('answer' in outcome) return outcome.answer
    }
    throw tooBusy()
  }

  async #attempt(
    means: Means,
    table: Table,
    change: ItemChange,
    found: Found,
  ): Promise<{ readonly answer: Item | undefined } | { readonly found: Found }> {
    const item = change.after(found.item)
    if (item !== found.item) {
      const write = { expected: found.expected, item, withBefore: false }
      const outcome = await this.#write(means, table, change, write)
      if (outcome.outcome === 'changed') {
        return { found: { item: outcome.before, expected: outcome.expected } }
      }
    }
    return { answer: change.shown(found.item, item) }
  }

  /** With the table's layout, whatever it is by now. */
  async #write(
    { store, layouts }: Means,
    table: Table,
    { key }: ItemChange,
    write: Omit<ItemWrite, 'layout'>,
  ): Promise<Exclude<WriteOutcome, { outcome: 'stale' }>> {
    return withLayout(layouts, table, (layout) => store.write(table, key, { ...write, layout }))
  }
}

/** Writes with the layout that is known, and again with the present one when that is not it. */
export async function withLayout(
  layouts: KnownLayouts,
  table: Table,
  write: (layout: TableLayout) => Promise<WriteOutcome>,
): Promise<Exclude<WriteOutcome, { outcome: 'stale' }>> {
  for (let tries = 0; tries < LAYOUT_TRIES; tries++) {
    const outcome = await write(await layouts.of(table))
    if (outcome.outcome !== 'stale') return outcome
    layouts.forget(table)
  }
  throw tooBusy()
}

const mutexKey = ({ siteId, tableId }: Table, { key }: ItemChange): string =>
  `${siteId} ${tableId} ${textOfKey(key)}`
