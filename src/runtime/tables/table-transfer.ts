import type { Clock } from '#base/clock.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import { checkItemKeys } from '#runtime/tables/items/key-schema.ts'
import { readPlainItem } from '#runtime/tables/items/plain-value.ts'
import { checkItemSize, itemSize } from '#runtime/tables/items/size.ts'

import { type Cost, costOf, NOTHING, plus } from './quotas/cost.ts'
import {
  type BulkItem,
  insertItems,
  insertTableUsage,
  selectItemBodies,
} from './store/bulk-queries.ts'
import { itemKeyOf } from './store/item-key.ts'
import { indexEntriesOf, type TableLayout } from './store/layout.ts'
import { bodyForm } from './store/stored-form.ts'
import type { TableLayouts } from './store/table-layouts.ts'
import type { Table } from './table.ts'

/** Takes whole tables out of a site, and into one that is not in use yet. */
export class TableTransfer {
  readonly #clock: Clock
  readonly #layouts: TableLayouts

  constructor(deps: { readonly clock: Clock; readonly layouts: TableLayouts }) {
    this.#clock = deps.clock
    this.#layouts = deps.layouts
  }

  /** The items of a table in plain JSON, some at a time. One table after the other in a transaction. */
  bodies(tx: SiteTx, tableId: string) {
    return selectItemBodies(tx, tableId, this.#nowSeconds())
  }

  /** Makes the table ready for its items, of which it has none yet. */
  async define(tx: SiteTx, { tableId, schema }: Table): Promise<void> {
    await this.#layouts.define(tx, tableId, schema)
  }

  /** Writes items in plain JSON, as a put would. Throws a `ValidationError` for one that no put takes. Gives what they cost. */
  async fill(tx: SiteTx, table: Table, bodies: readonly unknown[]): Promise<Cost> {
    const layout = await this.#layouts.within(tx).of(table)
    let cost = NOTHING
    const rows = bodies.map((body) => {
      const item = readPlainItem(body)
      checkItemSize(item)
      checkItemKeys(item, table.schema)
      cost = plus(cost, costOf(item, table.schema))
      return this.#rowOf(item, table, layout)
    })
    await insertItems(tx, table.tableId, rows)
    return cost
  }

  /** Opens the account of a site whose tables are full. */
  open(tx: SiteTx, used: Cost): Promise<void> {
    return insertTableUsage(tx, used)
  }

  #rowOf(item: ReturnType<typeof readPlainItem>, { schema }: Table, layout: TableLayout): BulkItem {
    const { body, expiry } = bodyForm(item, layout, this.#nowSeconds())
    const entries = layout.indexes.length === 0 ? null : indexEntriesOf(item, layout.indexes)
    return {
      key: itemKeyOf(item, schema),
      body,
      sizeBytes: itemSize(item),
      expiresAt: expiry,
      entries,
    }
  }

  #nowSeconds(): number {
    return Math.floor(this.#clock.now().getTime() / 1000)
  }
}
