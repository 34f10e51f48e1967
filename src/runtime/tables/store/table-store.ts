import { Buffer } from 'node:buffer'

import { CompiledQuery } from 'kysely'

import type { Clock } from '#base/clock.ts'
import type { Database, SiteTx } from '#platform/postgres/database.ts'
import { expiryOf } from '#runtime/tables/expiry/expiry.ts'
import type { Item } from '#runtime/tables/items/attribute-value.ts'
import { itemSize } from '#runtime/tables/items/size.ts'

import { byteList } from './byte-lists.ts'
import type { ItemKey } from './item-key.ts'
import type { Bound, StoredRange } from './key-range.ts'
import { entriesOf, type TableLayout } from './layout.ts'

/**
 * The items of tables: one statement of `migrations/0302_table_functions.sql` for each method. `storeOf` runs each in a
 * transaction of its own and in one round trip; `storeIn` runs them in a transaction of the caller's. There, `read` with
 * a lock holds items that exist, and `write` says `changed` when another writer came first: lock items in the order of
 * `compareItemKeys`, or two transactions wait for each other.
 */
export interface TableStore {
  get(table: TableAddress, key: ItemKey): Promise<Item | undefined>
  /** Items of several tables, in the order of their keys. */
  getMany(siteId: string, keys: readonly AddressedKey[]): Promise<(Item | undefined)[]>
  read(table: TableAddress, key: ItemKey, options?: { readonly lock: boolean }): Promise<ReadItem>
  write(table: TableAddress, key: ItemKey, write: ItemWrite): Promise<WriteOutcome>
  page(table: TableAddress, request: PageRequest): Promise<StoredPage>
}

export interface TableAddress {
  readonly siteId: string
  readonly tableId: string
}

interface AddressedKey {
  readonly tableId: string
  readonly key: ItemKey
}

interface ReadItem {
  /** Of the table's layout; null when the table has none. */
  readonly generation: number | null
  /** Undefined when there is none, or it has ended. */
  readonly item: Item | undefined
  readonly expected: Expected
}

/** What has to be so for a write to be done: `present` and `absent` ask for an item, a version for that row and no other. */
export type Expected = 'any' | 'absent' | 'present' | { readonly version: string }

export interface ItemWrite {
  readonly layout: TableLayout
  readonly expected: Expected
  /** Undefined deletes. */
  readonly item: Item | undefined
  /** Whether the answer shall hold the item as it was. */
  readonly withBefore: boolean
}

/** `stale`: the layout is not the table's any more. `changed`: what was expected is not so; `before` is what is there. */
export type WriteOutcome =
  | { readonly outcome: 'done'; readonly before: Item | undefined }
  | { readonly outcome: 'stale' }
  | { readonly outcome: 'changed'; readonly before: Item | undefined; readonly expected: Expected }

export interface PageRequest {
  /** Left out for the table itself. */
  readonly index?: string
  readonly range: StoredRange
  readonly forward: boolean
  /** Items at most; a page also ends with the item that makes it 1 MiB or more. */
  readonly limit: number
}

export interface StoredPage {
  readonly items: readonly Item[]
  /** Whether the limit or 1 MiB ended it; then there may be more. */
  readonly full: boolean
}

/** Bytes of items, as DynamoDB counts them, with which a page ends. */
const PAGE_BYTES = 1_048_576
const NOTHING = Buffer.alloc(0)

type Run = <Row>(text: string, parameters: readonly unknown[]) => Promise<Row[]>

export const storeOf = (database: Database, clock: Clock): TableStore =>
  new FunctionStore((text, parameters) => database.statement(text, parameters), clock)

export const storeIn = (tx: SiteTx, clock: Clock): TableStore =>
  new FunctionStore(async <Row>(text: string, parameters: readonly unknown[]) => {
    const { rows } = await tx.db.executeQuery<Row>(CompiledQuery.raw(text, [...parameters]))
    return rows
  }, clock)

export const compareItemKeys = (one: ItemKey, other: ItemKey): number =>
  Buffer.compare(one.hash, other.hash) || Buffer.compare(one.sort, other.sort)

class FunctionStore implements TableStore {
  readonly #run: Run
  readonly #clock: Clock

  constructor(run: Run, clock: Clock) {
    this.#run = run
    this.#clock = clock
  }

  async get({ siteId, tableId }: TableAddress, { hash, sort }: ItemKey): Promise<Item | undefined> {
    const [row] = await this.#run<{ body: string | null }>(
      'select table_item_get($1, $2, $3, $4, $5) as body',
      [siteId, tableId, hash, sort, this.#now()],
    )
    return parsed(row?.body)
  }

  async getMany(siteId: string, keys: readonly AddressedKey[]): Promise<(Item | undefined)[]> {
    const rows = await this.#run<{ place: string; body: string }>(
      'select place, body from table_items_get($1, $2::text[], $3::bytea[], $4::bytea[], $5)',
      [
        siteId,
        keys.map(({ tableId }) => tableId),
        byteList(keys.map(({ key }) => key.hash)),
        byteList(keys.map(({ key }) => key.sort)),
        this.#now(),
      ],
    )
    const found = new Map(rows.map(({ place, body }) => [Number(place), body]))
    return keys.map((_key, at) => parsed(found.get(at + 1)))
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
    }>('select generation, body, version from table_item_read($1, $2, $3, $4, $5, $6)', [
      siteId,
      tableId,
      hash,
      sort,
      this.#now(),
      lock,
    ])
    return {
      generation: row?.generation ?? null,
      item: parsed(row?.body),
      expected: versionOf(row?.version),
    }
  }

  async write(
    { siteId, tableId }: TableAddress,
    { hash, sort }: ItemKey,
    write: ItemWrite,
  ): Promise<WriteOutcome> {
    const { expected, layout } = write
    const now = this.#now()
    if (isPlainPut(write)) return this.#put([siteId, tableId, hash, sort], write, now)
    const [row] = await this.#run<{
      outcome: WriteOutcome['outcome']
      before: string | null
      version: string | null
    }>(
      `select outcome, before, version
       from table_item_write($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12,
         $13::integer[], $14::bytea[], $15::bytea[])`,
      [
        siteId,
        tableId,
        hash,
        sort,
        now,
        layout.generation,
        typeof expected === 'string' ? expected : 'version',
        typeof expected === 'string' ? null : expected.version,
        write.withBefore,
        ...storedForm(write.item, layout, now),
      ],
    )
    if (row === undefined) throw new Error('A write without an outcome')
    const before = parsed(row.before)
    if (row.outcome === 'done') return { outcome: 'done', before }
    if (row.outcome === 'stale') return { outcome: 'stale' }
    return { outcome: 'changed', before, expected: versionOf(row.version) }
  }

  async #put(
    place: readonly unknown[],
    { item, layout }: PlainPut,
    now: number,
  ): Promise<WriteOutcome> {
    const [row] = await this.#run<{ written: boolean }>(
      'select table_item_put($1, $2, $3, $4, $5, $6, $7, $8) as written',
      [...place, layout.generation, ...bodyForm(item, layout, now)],
    )
    return row?.written ? { outcome: 'done', before: undefined } : { outcome: 'stale' }
  }

  async page({ siteId, tableId }: TableAddress, request: PageRequest): Promise<StoredPage> {
    const { index, range, forward, limit } = request
    const now = this.#now()
    const rows = await (index === undefined
      ? this.#run<PageRow>(
          'select body, size_bytes from table_item_range($1, $2, $3, $4, $5, $6, $7, $8, $9)',
          [
            siteId,
            tableId,
            range.from.hash,
            range.from.sort,
            range.to.hash,
            range.to.sort,
            forward,
            limit,
            now,
          ],
        )
      : this.#run<PageRow>(
          'select body, size_bytes from table_index_range($1, $2, $3, $4::bytea[], $5::bytea[], $6, $7, $8)',
          [
            siteId,
            tableId,
            index,
            indexBound(range.from),
            indexBound(range.to),
            forward,
            limit,
            now,
          ],
        ))
    const bytes = rows.reduce((sum, row) => sum + row.size_bytes, 0)
    return {
      items: rows.map((row) => itemFrom(row.body)),
      full: rows.length >= limit || bytes >= PAGE_BYTES,
    }
  }

  #now(): number {
    return Math.floor(this.#clock.now().getTime() / 1000)
  }
}

interface PageRow {
  readonly body: string
  readonly size_bytes: number
}

type PlainPut = ItemWrite & { readonly item: Item }

/** A put that nothing depends on, neither an answer nor an entry of an index. */
const isPlainPut = (write: ItemWrite): write is PlainPut =>
  write.expected === 'any' &&
  write.item !== undefined &&
  !write.withBefore &&
  write.layout.indexes.length === 0

/** Body, size and expiry. */
const bodyForm = (item: Item, layout: TableLayout, nowSeconds: number): readonly unknown[] => [
  JSON.stringify(item),
  itemSize(item),
  expiryOf(item, layout.ttlAttribute, nowSeconds),
]

/** Body, size, expiry, and the index entries as three lists. */
function storedForm(
  item: Item | undefined,
  layout: TableLayout,
  nowSeconds: number,
): readonly unknown[] {
  const entries = item === undefined ? [] : entriesOf(item, layout.indexes)
  const indexed = layout.indexes.length > 0
  return [
    ...(item === undefined ? [null, null, null] : bodyForm(item, layout, nowSeconds)),
    indexed ? entries.map(({ indexId }) => indexId) : null,
    indexed ? byteList(entries.map(({ key }) => key.hash)) : null,
    indexed ? byteList(entries.map(({ key }) => key.sort)) : null,
  ]
}

const indexBound = ({ hash, sort, item }: Bound): string =>
  byteList([hash, sort, item?.hash ?? NOTHING, item?.sort ?? NOTHING])

const versionOf = (version: string | null | undefined): Expected =>
  version === null || version === undefined ? 'absent' : { version }

const parsed = (body: string | null | undefined): Item | undefined =>
  body === null || body === undefined ? undefined : itemFrom(body)

/** Only `storedForm` writes what this reads. */
const itemFrom = (body: string): Item => JSON.parse(body) as Item
