import { Buffer } from 'node:buffer'

import { CompiledQuery } from 'kysely'

import type { Clock } from '#base/clock.ts'
import { byteaList } from '#platform/postgres/array-types.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import { query } from '#platform/postgres/query-text.ts'
import type { Item } from '#runtime/tables/items/attribute-value.ts'

import { type ItemKey, keyLists } from './item-key.ts'
import type { Bound } from './key-range.ts'
import { bodyForm, entryForm, isPlainPut, NO_ITEM_FORM, type PlainPut } from './stored-form.ts'
import { allStoredFrom, itemOf, type StoredItem, storedFrom } from './stored-item.ts'
import type {
  AddressedKey,
  Expected,
  ItemWrite,
  StoredPageRequest,
  ReadItem,
  StoredPage,
  TableAddress,
  TableStore,
  WriteOutcome,
} from './table-store.ts'

const NOTHING = Buffer.alloc(0)

type Run = <Row>(text: string, parameters: readonly unknown[]) => Promise<Row[]>

/** In a transaction of the caller's. */
export const storeIn = (tx: SiteTx, clock: Clock): TableStore =>
  new FunctionStore(async <Row>(text: string, parameters: readonly unknown[]) => {
    const { rows } = await tx.db.executeQuery<Row>(CompiledQuery.raw(text, [...parameters]))
    return rows
  }, clock)

/** One statement of `migrations/0302_table_functions.sql` for each method. */
export class FunctionStore implements TableStore {
  readonly #run: Run
  readonly #clock: Clock

  constructor(run: Run, clock: Clock) {
    this.#run = run
    this.#clock = clock
  }

  async get(
    { siteId, tableId }: TableAddress,
    { hash, sort }: ItemKey,
  ): Promise<StoredItem | undefined> {
    const [row] = await this.#run<{ body: string | null }>(
      ...query`select table_item_get(${siteId}, ${tableId}, ${hash}, ${sort}, ${this.#now()}) as body`,
    )
    const body = row?.body ?? undefined
    return body === undefined ? undefined : storedFrom(body)
  }

  async getMany(
    siteId: string,
    keys: readonly AddressedKey[],
  ): Promise<(StoredItem | undefined)[]> {
    const tableIds = keys.map(({ tableId }) => tableId)
    const { hashes, sorts } = keyLists(keys)
    const rows = await this.#run<{ place: number; body: string }>(
      ...query`select place, body from table_items_get(${siteId}, ${tableIds}::text[],
        ${hashes}::bytea[], ${sorts}::bytea[], ${this.#now()})`,
    )
    const items = keys.map((): StoredItem | undefined => undefined)
    for (const { place, body: text } of rows) items[place - 1] = storedFrom(text)
    return items
  }

  async read(
    { siteId, tableId }: TableAddress,
    { hash, sort }: ItemKey,
    { lock }: { readonly lock: boolean } = { lock: false },
  ): Promise<ReadItem> {
    const [row] = await this.#run<{
      generation: number | null
      body: string | null
      version: string | null
    }>(
      ...query`select generation, body, version
        from table_item_read(${siteId}, ${tableId}, ${hash}, ${sort}, ${this.#now()}, ${lock})`,
    )
    return {
      generation: row?.generation ?? null,
      item: itemOrNone(row?.body),
      expected: versionOf(row?.version),
    }
  }

  async write(table: TableAddress, key: ItemKey, write: ItemWrite): Promise<WriteOutcome> {
    if (isPlainPut(write)) return this.#put(table, key, write)
    const now = this.#now()
    const { expected, layout, withBefore } = write
    const [kind, version] =
      typeof expected === 'string' ? [expected, null] : ['version', expected.version]
    const { body, size, expiry } = write.item ? bodyForm(write.item, layout, now) : NO_ITEM_FORM
    const { ids, hashes, sorts } = entryForm(write.item, layout)
    const [row] = await this.#run<{
      outcome: WriteOutcome['outcome']
      before: string | null
      version: string | null
    }>(
      ...query`select outcome, before, version
        from table_item_write(${table.siteId}, ${table.tableId}, ${key.hash}, ${key.sort}, ${now},
          ${layout.generation}, ${kind}, ${version}, ${withBefore}, ${body}, ${size}, ${expiry},
          ${ids}::integer[], ${hashes}::bytea[], ${sorts}::bytea[])`,
    )
    if (row === undefined) throw new Error('A write without an outcome')
    const before = itemOrNone(row.before)
    if (row.outcome === 'done') return { outcome: 'done', before }
    if (row.outcome === 'stale') return { outcome: 'stale' }
    return { outcome: 'changed', before, expected: versionOf(row.version) }
  }

  async #put(
    { siteId, tableId }: TableAddress,
    { hash, sort }: ItemKey,
    { item, layout }: PlainPut,
  ): Promise<WriteOutcome> {
    const { body, size, expiry } = bodyForm(item, layout, this.#now())
    const [row] = await this.#run<{ written: boolean }>(
      ...query`select table_item_put(${siteId}, ${tableId}, ${hash}, ${sort}, ${layout.generation},
        ${body}, ${size}, ${expiry}) as written`,
    )
    return row?.written ? { outcome: 'done', before: undefined } : { outcome: 'stale' }
  }

  async page({ siteId, tableId }: TableAddress, request: StoredPageRequest): Promise<StoredPage> {
    const { index, range, forward, limit } = request
    const { from, to } = range
    const now = this.#now()
    const [row] = await this.#run<PageRow>(
      ...(index === undefined
        ? query`select bodies, is_full from table_item_range(${siteId}, ${tableId},
            ${from.hash}, ${from.sort}, ${to.hash}, ${to.sort}, ${forward}, ${limit}, ${now})`
        : query`select bodies, is_full from table_index_range(${siteId}, ${tableId}, ${index},
            ${indexBound(from)}::bytea[], ${indexBound(to)}::bytea[], ${forward}, ${limit}, ${now})`),
    )
    return { items: allStoredFrom(row?.bodies ?? ''), full: row?.is_full ?? false }
  }

  /** Several plain puts of one table, of different keys and in their order. Gives whether they were written. */
  async putMany(
    { siteId, tableId }: TableAddress,
    puts: readonly { readonly key: ItemKey; readonly put: PlainPut }[],
  ): Promise<boolean> {
    const now = this.#now()
    const forms = puts.map(({ put }) => bodyForm(put.item, put.layout, now))
    const { hashes, sorts } = keyLists(puts)
    const [row] = await this.#run<{ written: boolean }>(
      ...query`select table_items_put(${siteId}, ${tableId}, ${hashes}::bytea[], ${sorts}::bytea[],
        ${puts[0]?.put.layout.generation}, ${forms.map(({ body }) => body)}::text[],
        ${forms.map(({ size }) => size)}::integer[], ${forms.map(({ expiry }) => expiry)}::bigint[])
        as written`,
    )
    return row?.written ?? false
  }

  #now(): number {
    return Math.floor(this.#clock.now().getTime() / 1000)
  }
}

interface PageRow {
  readonly bodies: string | null
  readonly is_full: boolean
}

const indexBound = ({ hash, sort, item }: Bound): string =>
  byteaList([hash, sort, item?.hash ?? NOTHING, item?.sort ?? NOTHING])

const versionOf = (version: string | null | undefined): Expected =>
  version === null || version === undefined ? 'absent' : { version }

const itemOrNone = (body: string | null | undefined): Item | undefined =>
  body === null || body === undefined ? undefined : itemOf(storedFrom(body))
