import { Buffer } from 'node:buffer'

import { CompiledQuery } from 'kysely'

import type { Clock } from '#base/clock.ts'
import { byteaList } from '#platform/postgres/array-types.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { Item } from '#runtime/tables/items/attribute-value.ts'

import type { ItemKey } from './item-key.ts'
import type { Bound } from './key-range.ts'
import { bodyForm, isPlainPut, type PlainPut, storedForm } from './stored-form.ts'
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
      'select table_item_get($1, $2, $3, $4, $5) as body',
      [siteId, tableId, hash, sort, this.#now()],
    )
    const body = row?.body ?? undefined
    return body === undefined ? undefined : storedFrom(body)
  }

  async getMany(
    siteId: string,
    keys: readonly AddressedKey[],
  ): Promise<(StoredItem | undefined)[]> {
    const rows = await this.#run<{ place: number; body: string }>(
      'select place, body from table_items_get($1, $2::text[], $3::bytea[], $4::bytea[], $5)',
      [
        siteId,
        keys.map(({ tableId }) => tableId),
        byteaList(keys.map(({ key }) => key.hash)),
        byteaList(keys.map(({ key }) => key.sort)),
        this.#now(),
      ],
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
      item: itemOrNone(row?.body),
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
    const before = itemOrNone(row.before)
    if (row.outcome === 'done') return { outcome: 'done', before }
    if (row.outcome === 'stale') return { outcome: 'stale' }
    return { outcome: 'changed', before, expected: versionOf(row.version) }
  }

  async #put(
    place: readonly unknown[],
    { item, layout }: PlainPut,
    now: number,
  ): Promise<WriteOutcome> {
    const form = bodyForm(item, layout, now)
    const [row] = await this.#run<{ written: boolean }>(
      'select table_item_put($1, $2, $3, $4, $5, $6, $7, $8) as written',
      [...place, layout.generation, form.body, form.size, form.expiry],
    )
    return row?.written ? { outcome: 'done', before: undefined } : { outcome: 'stale' }
  }

  async page({ siteId, tableId }: TableAddress, request: StoredPageRequest): Promise<StoredPage> {
    const { index, range, forward, limit } = request
    const now = this.#now()
    const [row] = await (index === undefined
      ? this.#run<PageRow>(
          'select bodies, is_full from table_item_range($1, $2, $3, $4, $5, $6, $7, $8, $9)',
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
          'select bodies, is_full from table_index_range($1, $2, $3, $4::bytea[], $5::bytea[], $6, $7, $8)',
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
    return { items: allStoredFrom(row?.bodies ?? ''), full: row?.is_full ?? false }
  }

  /** Several plain puts of one table, of different keys and in their order. Gives whether they were written. */
  async putMany(
    { siteId, tableId }: TableAddress,
    puts: readonly { readonly key: ItemKey; readonly put: PlainPut }[],
  ): Promise<boolean> {
    const now = this.#now()
    const forms = puts.map(({ put }) => bodyForm(put.item, put.layout, now))
    const [row] = await this.#run<{ written: boolean }>(
      `select table_items_put($1, $2, $3::bytea[], $4::bytea[], $5, $6::text[], $7::integer[],
         $8::bigint[]) as written`,
      [
        siteId,
        tableId,
        byteaList(puts.map(({ key }) => key.hash)),
        byteaList(puts.map(({ key }) => key.sort)),
        puts[0]?.put.layout.generation,
        forms.map(({ body }) => body),
        forms.map(({ size }) => size),
        forms.map(({ expiry }) => expiry),
      ],
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
