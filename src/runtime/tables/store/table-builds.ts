import { setImmediate as untilIdle } from 'node:timers/promises'

import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { SiteDataRemover } from '#sites/site-cleanup.ts'

import { deleteEntries, deleteItems, lockItemsAfter, writeBuiltItems } from './build-queries.ts'
import { retryOnConflict } from './conflict-retry.ts'
import { itemExpiry } from './item-expiry.ts'
import {
  deleteIndex,
  deleteLayout,
  lockWrites,
  lockLayout,
  selectLayout,
  type StoredLayout,
  updateIndexStatus,
  upsertLayout,
  writableLayout,
} from './layout-queries.ts'
import { indexEntriesOf } from './layout.ts'
import { itemOf, storedFrom } from './stored-item.ts'
import type { TableAddress } from './table-store.ts'

/** What one transaction takes on: writers of these items wait for it. */
const BATCH = { items: 200, bytes: 4 * 1_048_576 }
const DELETED_AT_ONCE = 2_000
/** How long ended items, which are invisible, stay at most; and how often each table with a TTL attribute is looked at. */
const SWEEP_SECONDS = 600

/**
 * The handler of the queue `table-build`: makes the index entries and expiries that a table's items lack, removes the
 * entries of indexes that are gone and the items that have ended. Every batch is a transaction that says how far it came,
 * so it goes on where it was when it is run again, and two at once do no harm.
 */
export class TableBuilds implements SiteDataRemover {
  readonly #deps

  constructor(deps: Pick<PlatformServices, 'database' | 'clock' | 'queue' | 'disk'>) {
    this.#deps = deps
  }

  /** In the transaction that changes what a table's rows shall be. */
  request(tx: SiteTx, tableId: string): Promise<void> {
    return this.#enqueue(tx, tableId, 'build')
  }

  async run(
    { siteId, resourceId: tableId }: { readonly siteId: string; readonly resourceId: string },
    signal: AbortSignal,
  ): Promise<void> {
    const layout = await this.#begin({ siteId, tableId })
    if (layout === undefined) return
    // While the disk is full nothing is added, but what makes room goes on.
    const isFull = this.#deps.disk.isFull('database')
    if (!isFull) await this.#repeat(siteId, signal, (tx) => this.#buildBatch(tx, tableId))
    for (const { indexId, status } of layout.indexes) {
      if (status !== 'removing') continue
      await this.#repeat(siteId, signal, async (tx) => {
        if ((await deleteEntries(tx, tableId, indexId, DELETED_AT_ONCE)) > 0) return true
        await deleteIndex(tx, tableId, indexId)
        return false
      })
    }
    if (layout.ttlAttribute !== undefined) {
      await this.#repeat(siteId, signal, (tx) => this.#sweepBatch(tx, tableId))
    }
    if (isFull && layout.builtTo !== undefined) this.#deps.disk.check('database')
  }

  /** Removes all rows of a table whose definition is gone. Its id is never given again. */
  async dropItems(table: TableAddress, signal: AbortSignal): Promise<void> {
    await this.#deps.database.withSite(table.siteId, async (tx) => {
      await lockWrites(tx, table.tableId)
      await deleteLayout(tx, table.tableId)
    })
    await this.#repeat(table.siteId, signal, (tx) => this.#removeRows(tx, table.tableId))
  }

  /** Removes the rows of all tables of a site that is gone. */
  async removeSite(siteId: string, signal: AbortSignal): Promise<void> {
    await this.#repeat(siteId, signal, (tx) => this.#removeRows(tx, null))
  }

  /** Asks for the next look at a table whose items end before anything is done, so that no failure can end the series. */
  #begin({ siteId, tableId }: TableAddress): Promise<StoredLayout | undefined> {
    return this.#deps.database.withSite(siteId, async (tx) => {
      const layout = await selectLayout(tx, tableId)
      if (layout?.ttlAttribute !== undefined) {
        await this.#enqueue(tx, tableId, 'sweep', { startAfterSeconds: SWEEP_SECONDS })
      }
      return layout
    })
  }

  async #enqueue(
    tx: SiteTx,
    tableId: string,
    kind: 'build' | 'sweep',
    later: { readonly startAfterSeconds?: number } = {},
  ): Promise<void> {
    const { siteId } = tx
    const job = { siteId, resourceId: tableId }
    const options = { singletonKey: `${kind}:${siteId}:${tableId}`, ...later }
    await this.#deps.queue.enqueue(tx, 'table-build', job, options)
  }

  /** False when there was nothing left to build. */
  async #buildBatch(tx: SiteTx, tableId: string): Promise<boolean> {
    const layout = await lockLayout(tx, tableId)
    if (layout?.builtTo === undefined) return false
    this.#deps.disk.check('database')
    const items = await lockItemsAfter(tx, tableId, layout.builtTo, BATCH)
    const last = items.at(-1)
    if (last === undefined) {
      const indexIds = layout.indexes
        .filter(({ status }) => status === 'building')
        .map(({ indexId }) => indexId)
      await updateIndexStatus(tx, tableId, { indexIds, status: 'active' })
      await upsertLayout(tx, tableId, { ...layout, builtTo: undefined })
      return false
    }
    const { indexes, ttlAttribute } = writableLayout(layout)
    const nowSeconds = this.#nowSeconds()
    const built = items.map(({ key, body }) => {
      // Only the store writes bodies.
      const item = itemOf(storedFrom(body))
      const entries = indexes.length === 0 ? null : indexEntriesOf(item, indexes)
      return { key, expiresAt: itemExpiry(item, ttlAttribute, nowSeconds), entries }
    })
    await writeBuiltItems(tx, tableId, built)
    await upsertLayout(tx, tableId, { ...layout, builtTo: last.key })
    return true
  }

  /** Until a build is done, expiries may still be those of another attribute. */
  async #sweepBatch(tx: SiteTx, tableId: string): Promise<boolean> {
    const layout = await lockLayout(tx, tableId)
    if (layout?.ttlAttribute === undefined || layout.builtTo !== undefined) return false
    return (await deleteItems(tx, tableId, this.#nowSeconds(), DELETED_AT_ONCE)) > 0
  }

  async #removeRows(tx: SiteTx, tableId: string | null): Promise<boolean> {
    if ((await deleteItems(tx, tableId, null, DELETED_AT_ONCE)) > 0) return true
    return (await deleteEntries(tx, tableId, null, DELETED_AT_ONCE)) > 0
  }

  async #repeat(
    siteId: string,
    signal: AbortSignal,
    batch: (tx: SiteTx) => Promise<boolean>,
  ): Promise<void> {
    for (let more = true; more;) {
      signal.throwIfAborted()
      more = await retryOnConflict(() => this.#deps.database.withSite(siteId, batch))
      await untilIdle()
    }
  }

  #nowSeconds(): number {
    return Math.floor(this.#deps.clock.now().getTime() / 1000)
  }
}
