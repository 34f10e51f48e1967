import { isDeepStrictEqual } from 'node:util'

import { notFound } from '#base/app-error.ts'
import { LoadingCache } from '#base/loading-cache.ts'
import type { Database, SiteTx } from '#platform/postgres/database.ts'
import type { KeySchema } from '#runtime/tables/items/key-schema.ts'
import type { TableConfig } from '#runtime/tables/table-config.ts'
import type { Table } from '#runtime/tables/table.ts'

import {
  hasItems,
  lockWrites,
  insertIndex,
  lockTableResource,
  selectLayout,
  type StoredLayout,
  updateIndexStatus,
  upsertLayout,
  writableLayout,
} from './layout-queries.ts'
import type { TableLayout } from './layout.ts'
import type { TableAddress } from './table-store.ts'

/** Layouts that are kept; a stale one is found out by the write that uses it. */
const MAX_CACHED = 10_000
const NEW: StoredLayout = {
  generation: 0,
  ttlAttribute: undefined,
  lastIndexId: 0,
  builtTo: undefined,
  indexes: [],
}
/** From the first item on. */
const START = { hash: Buffer.alloc(0), sort: Buffer.alloc(0) }

/** Has `TableBuilds` run for a table after the commit. */
export type RequestBuild = (tx: SiteTx, tableId: string) => Promise<void>

/** The layouts of tables, as far as this process knows. */
export interface KnownLayouts {
  of(table: Table): Promise<TableLayout>
  /** What is known of the table is wrong. */
  forget(table: TableAddress): void
}

/** What the definition of a table means for its rows. */
export class TableLayouts implements KnownLayouts {
  readonly #database: Database
  readonly #requestBuild: RequestBuild
  readonly #cache = new LoadingCache<string, TableLayout>({ entries: { max: MAX_CACHED } })

  constructor(deps: { readonly database: Database; readonly requestBuild: RequestBuild }) {
    this.#database = deps.database
    this.#requestBuild = deps.requestBuild
  }

  async of(table: Table): Promise<TableLayout> {
    return this.#cache.get(keyOf(table), () =>
      this.#database.withSite(table.siteId, (tx) => this.#find(tx, table)),
    )
  }

  /** The same in a transaction: a holder of a connection must not wait for another one. */
  within(tx: SiteTx): KnownLayouts {
    return {
      of: async (table) => this.#cache.getIfPresent(keyOf(table)) ?? this.#find(tx, table),
      forget: (table) => this.forget(table),
    }
  }

  forget(table: TableAddress): void {
    this.#cache.invalidate(keyOf(table))
  }

  /**
   * Brings the layout in line with a definition, in the transaction that writes the definition. What the items' rows
   * lack is made by the queue `table-build`; an index can be read when that is done.
   */
  async define(tx: SiteTx, tableId: string, schema: TableConfig): Promise<void> {
    await lockWrites(tx, tableId)
    const before = await selectLayout(tx, tableId)
    const change = changeOf(before ?? NEW, schema)
    if (before !== undefined && !change.any) return
    const filled = await hasItems(tx, tableId)
    await this.#write(tx, tableId, { before: before ?? NEW, change, schema, filled })
    tx.onCommit(() => this.forget({ siteId: tx.siteId, tableId }))
    if (schema.ttlAttribute !== undefined || change.removed.length > 0 || (filled && change.any)) {
      await this.#requestBuild(tx, tableId)
    }
  }

  async #write(
    tx: SiteTx,
    tableId: string,
    { before, change, schema, filled }: Defining,
  ): Promise<void> {
    const { added, removed } = change
    const needsItems = filled && (added.length > 0 || change.expiry)
    await upsertLayout(tx, tableId, {
      generation: before.generation + 1,
      ttlAttribute: schema.ttlAttribute,
      lastIndexId: before.lastIndexId + added.length,
      builtTo: needsItems ? START : before.builtTo,
    })
    await updateIndexStatus(tx, tableId, { indexIds: removed, status: 'removing' })
    const status = filled ? 'building' : 'active'
    for (const [at, { name, partitionKey, sortKey }] of added.entries()) {
      const keys = sortKey === undefined ? { partitionKey } : { partitionKey, sortKey }
      const indexId = before.lastIndexId + at + 1
      await insertIndex(tx, tableId, { name, ...keys, indexId, status })
    }
  }

  /** A table that is defined and has no layout is older than layouts, and empty. */
  async #find(tx: SiteTx, { tableId, schema }: Table): Promise<TableLayout> {
    const found = await selectLayout(tx, tableId)
    if (found !== undefined) return writableLayout(found)
    if (!(await lockTableResource(tx, tableId))) throw notFound('Resource', tableId)
    await this.define(tx, tableId, schema)
    const made = await selectLayout(tx, tableId)
    return writableLayout(made ?? NEW)
  }
}

const keyOf = ({ siteId, tableId }: TableAddress): string => `${siteId} ${tableId}`

interface Defining {
  readonly before: StoredLayout
  readonly change: LayoutChange
  readonly schema: TableConfig
  readonly filled: boolean
}

interface LayoutChange {
  readonly any: boolean
  readonly added: NonNullable<TableConfig['globalSecondaryIndexes']>
  readonly removed: readonly number[]
  /** Whether items end by another attribute. */
  readonly expiry: boolean
}

function changeOf(before: StoredLayout, schema: TableConfig): LayoutChange {
  const { globalSecondaryIndexes = [], ttlAttribute } = schema
  const current = before.indexes.filter(({ status }) => status !== 'removing')
  const added = globalSecondaryIndexes.filter(
    (index) => !current.some((each) => sameIndex(each, index)),
  )
  const removed = current
    .filter((index) => !globalSecondaryIndexes.some((each) => sameIndex(each, index)))
    .map(({ indexId }) => indexId)
  const expiry = before.ttlAttribute !== ttlAttribute
  return { any: expiry || added.length > 0 || removed.length > 0, added, removed, expiry }
}

const sameIndex = (one: NamedKeys, other: NamedKeys): boolean =>
  isDeepStrictEqual(namedKeys(one), namedKeys(other))

type NamedKeys = KeySchema & { readonly name: string }
const namedKeys = ({ name, partitionKey, sortKey }: NamedKeys) => ({ name, partitionKey, sortKey })
