import type { Clock } from '#base/clock.ts'
import { codeOf } from '#base/error-code.ts'
import type { Database } from '#platform/postgres/database.ts'

import { projected, readGet } from './actions/get-item.ts'
import type { ItemChange } from './actions/item-change.ts'
import { type FoundPage, type ItemPage, unknownIndex } from './actions/page.ts'
import { readQuery } from './actions/query.ts'
import { readDelete, readPut } from './actions/replace-item.ts'
import { readScan } from './actions/scan.ts'
import { readUpdate } from './actions/update-item.ts'
import type {
  DeleteRequest,
  GetRequest,
  PutRequest,
  QueryRequest,
  ScanRequest,
  UpdateRequest,
} from './api/action-fields.ts'
import { Expressions } from './expressions/expressions.ts'
import { type PlainItem, plainItem } from './items/plain-json.ts'
import { meteredChange, type MeteredWrites, UNMETERED } from './quotas/charge.ts'
import { storeOf } from './store/batching-store.ts'
import { ItemWrites } from './store/item-writes.ts'
import type { TableLayouts } from './store/table-layouts.ts'
import type { TableStore } from './store/table-store.ts'
import type { Table } from './table.ts'
import { validationError } from './validation-error.ts'

/** What `table_index_range` raises. */
const BACKFILLING = 'CT001'
const NO_INDEX = 'CT002'

/**
 * DynamoDB's actions on single items and pages, of tables in Postgres. Requests have passed the rules of the API; items are
 * in plain JSON. All methods fail with `ValidationError` in DynamoDB's words, and with `ResourceNotFound` when the table is
 * gone.
 */
export class TableEngine {
  readonly #store: TableStore
  readonly #writes: ItemWrites
  readonly #quotas: MeteredWrites
  readonly #expressions = new Expressions()

  constructor(deps: {
    readonly database: Database
    readonly clock: Clock
    readonly layouts: TableLayouts
    /** Left out for tables without a quota. */
    readonly quotas?: MeteredWrites
  }) {
    this.#store = storeOf(deps.database, deps.clock)
    this.#writes = new ItemWrites(deps)
    this.#quotas = deps.quotas ?? UNMETERED
  }

  /** Undefined when there is no such item. */
  async get(table: Table, fields: GetRequest): Promise<PlainItem | undefined> {
    const { key, projection } = readGet(this.#request(table, fields))
    const stored = await this.#store.get(table, key)
    return stored && projected(stored, projection)
  }

  /** Writes give the attributes that `returnValues` asks for. They also fail with `ConditionalCheckFailed` and `QuotaExceeded`. */
  async put(table: Table, fields: PutRequest): Promise<PlainItem | undefined> {
    return this.#change(table, readPut(this.#request(table, fields)))
  }

  async update(table: Table, fields: UpdateRequest): Promise<PlainItem | undefined> {
    return this.#change(table, readUpdate(this.#request(table, fields)))
  }

  async delete(table: Table, fields: DeleteRequest): Promise<PlainItem | undefined> {
    return this.#change(table, readDelete(this.#request(table, fields)))
  }

  async query(table: Table, fields: QueryRequest): Promise<FoundPage> {
    return this.#page(table, readQuery(this.#request(table, fields)))
  }

  async scan(table: Table, fields: ScanRequest): Promise<FoundPage> {
    return this.#page(table, readScan(this.#request(table, fields)))
  }

  #request<Fields>(table: Table, fields: Fields) {
    return { table, fields, expressions: this.#expressions }
  }

  async #change(table: Table, change: ItemChange): Promise<PlainItem | undefined> {
    const shown = await this.#quotas.run(table.siteId, (meter) =>
      this.#writes.perform(table, meteredChange(table, change, meter)),
    )
    return shown && plainItem(shown)
  }

  async #page(table: Table, { request, found }: ItemPage): Promise<FoundPage> {
    try {
      return await found(await this.#store.page(table, request))
    } catch (error) {
      throw indexError(error, request.index ?? '') ?? error
    }
  }
}

function indexError(error: unknown, name: string): Error | undefined {
  const code = codeOf(error)
  if (code === BACKFILLING) {
    return validationError(`Cannot read from backfilling global secondary index: ${name}`)
  }
  return code === NO_INDEX ? unknownIndex(name) : undefined
}
