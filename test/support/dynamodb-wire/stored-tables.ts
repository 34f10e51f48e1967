import { sql } from 'kysely'

import { systemClock } from '#base/clock.ts'
import { ENOUGH_ROOM } from '#platform/disk/disk-room.ts'
import type { Database } from '#platform/postgres/database.ts'
import type { Queue } from '#platform/queue/queue.ts'
import { TableBuilds } from '#runtime/tables/store/table-builds.ts'
import { TableLayouts } from '#runtime/tables/store/table-layouts.ts'
import type { Table } from '#runtime/tables/table.ts'

import type { TableStore } from './table-catalog.ts'
import { configOf, type Measured, type WireTable } from './wire-table.ts'

/** Builds are run where they are asked for, so nothing waits in a queue. */
const NO_QUEUE: Queue = {
  async enqueue() {},
  async enqueueAll() {},
  hasOthers: async () => false,
  handle() {},
  async run() {},
}

/** The tables as `ddbTable` resources of one site, with their layouts. */
export class StoredTables implements TableStore {
  readonly layouts: TableLayouts
  readonly #siteId: string
  readonly #database: Database
  readonly #builds: TableBuilds
  readonly #signal: AbortSignal

  constructor(deps: {
    readonly siteId: string
    readonly database: Database
    /** Ends builds that are in progress. */
    readonly signal: AbortSignal
  }) {
    this.#siteId = deps.siteId
    this.#database = deps.database
    this.#signal = deps.signal
    this.#builds = new TableBuilds({
      ...deps,
      clock: systemClock,
      queue: NO_QUEUE,
      disk: ENOUGH_ROOM,
    })
    this.layouts = new TableLayouts({ ...deps, requestBuild: async () => {} })
  }

  tableOf(table: WireTable): Table {
    return { siteId: this.#siteId, tableId: table.tableId, schema: configOf(table) }
  }

  async add(table: WireTable): Promise<void> {
    await this.#database.withSite(this.#siteId, async (tx) => {
      await tx.db
        .insertInto('data_resource')
        .values({
          site_id: tx.siteId,
          resource_id: table.tableId,
          type: 'ddbTable',
          name: table.name,
          config: JSON.stringify(configOf(table)),
        })
        .execute()
      await this.layouts.define(tx, table.tableId, configOf(table))
    })
  }

  async change(table: WireTable): Promise<void> {
    await this.#database.withSite(this.#siteId, async (tx) => {
      await tx.db
        .updateTable('data_resource')
        .set({ config: JSON.stringify(configOf(table)) })
        .where('site_id', '=', tx.siteId)
        .where('resource_id', '=', table.tableId)
        .execute()
      await this.layouts.define(tx, table.tableId, configOf(table))
    })
    await this.#builds.run({ siteId: this.#siteId, resourceId: table.tableId }, this.#signal)
    this.layouts.forget(this.tableOf(table))
  }

  async remove(table: WireTable): Promise<void> {
    await this.#database.withSite(this.#siteId, (tx) =>
      tx.db
        .deleteFrom('data_resource')
        .where('site_id', '=', tx.siteId)
        .where('resource_id', '=', table.tableId)
        .execute(),
    )
    this.layouts.forget(this.tableOf(table))
    await this.#builds.dropItems(this.tableOf(table), this.#signal)
  }

  measure({ tableId }: WireTable): Promise<Measured> {
    return this.#database.withSite(this.#siteId, async (tx) => {
      const { rows } = await sql<{ items: number; bytes: number }>`
        select count(*)::float8 as items, coalesce(sum(size_bytes), 0)::float8 as bytes
        from table_item where site_id = ${tx.siteId} and table_id = ${tableId}`.execute(tx.db)
      return { itemCount: rows[0]?.items ?? 0, sizeBytes: rows[0]?.bytes ?? 0 }
    })
  }
}
