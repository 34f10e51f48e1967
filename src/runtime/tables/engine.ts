import { codeOf } from '#base/error-code.ts'
import { type DiskRoom, ENOUGH_ROOM } from '#platform/disk/disk-room.ts'

import { projected, readGet } from './actions/get-item.ts'
import type { ItemChange } from './actions/item-change.ts'
import { type FoundPage, type ItemPage, unknownIndex } from './actions/page.ts'
import { readQuery } from './actions/query.ts'
import { readDelete, readPut } from './actions/replace-item.ts'
import { readScan } from './actions/scan.ts'
import { readUpdate } from './actions/update-item.ts'
import type {
  BatchGetRequest,
  BatchWriteRequest,
  DeleteRequest,
  GetRequest,
  PutRequest,
  QueryRequest,
  ScanRequest,
  TransactRequest,
  UpdateRequest,
} from './api/action-fields.ts'
import { type FoundBatch, readBatchGet } from './batches/batch-get.ts'
import { readBatchWrite } from './batches/batch-write.ts'
import type { BatchPlan } from './batches/plan.ts'
import { readTransactWrite } from './batches/transact-write.ts'
import { Expressions } from './expressions/expressions.ts'
import { type PlainItem, plainItem } from './items/plain-json.ts'
import { meteredChange, type MeteredWrites, UNMETERED } from './quotas/charge.ts'
import { BatchItems } from './store/batch-items.ts'
import { storeOf } from './store/batching-store.ts'
import { retryOnConflict } from './store/conflict-retry.ts'
import { type ItemStoreDeps, ItemWrites } from './store/item-writes.ts'
import type { TableStore } from './store/table-store.ts'
import type { Table } from './table.ts'
import { validationError } from './validation-error.ts'

/** What `table_index_range` raises. */
const BACKFILLING = 'CT001'
const NO_INDEX = 'CT002'

/**
 * DynamoDB's actions, of tables in Postgres. Requests have passed the rules of the API; items are in plain JSON. All methods
 * fail with `ValidationError` in DynamoDB's words, and with `ResourceNotFound` when a table is gone; those that write fail
 * with `QuotaExceeded` as well, and with `DiskFull` while only deletes are taken.
 */
export class TableEngine {
  readonly #deps
  readonly #store: TableStore
  readonly #writes: ItemWrites
  readonly #items: BatchItems
  readonly #quotas: MeteredWrites
  readonly #disk: DiskRoom
  readonly #expressions = new Expressions()

  constructor(
    deps: ItemStoreDeps & {
      /** Left out where the disk is not watched. */
      readonly disk?: DiskRoom
      /** Left out for tables without a quota. */
      readonly quotas?: MeteredWrites
    },
  ) {
    this.#deps = deps
    this.#store = storeOf(deps.database, deps.clock)
    this.#writes = new ItemWrites(deps)
    this.#items = new BatchItems(deps)
    this.#quotas = deps.quotas ?? UNMETERED
    this.#disk = deps.disk ?? ENOUGH_ROOM
  }

  /** Undefined when there is no such item. */
  async get(table: Table, fields: GetRequest): Promise<PlainItem | undefined> {
    const { key, projection } = readGet(this.#request(table, fields))
    const stored = await this.#store.get(table, key)
    return stored && projected(stored, projection)
  }

  /** Writes give the attributes that `returnValues` asks for. They also fail with `ConditionalCheckFailed`. */
  async put(table: Table, fields: PutRequest): Promise<PlainItem | undefined> {
    this.#disk.check('database')
    return this.#change(table, readPut(this.#request(table, fields)))
  }

  async update(table: Table, fields: UpdateRequest): Promise<PlainItem | undefined> {
    this.#disk.check('database')
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

  /** Items of several tables of one site, in the order of the requests. */
  async batchGet(requests: readonly BatchGetRequest[]): Promise<readonly FoundBatch[]> {
    return this.#perform(readBatchGet(requests, this.#expressions), UNMETERED)
  }

  /** Of two batches or transactions that meet, one waits for the other. */
  async batchWrite(requests: readonly BatchWriteRequest[]): Promise<void> {
    if (requests.some((request) => 'item' in request)) this.#disk.check('database')
    await this.#perform(readBatchWrite(requests), this.#quotas)
  }

  /**
   * Fails with `TransactionCanceled` (`fields.reasons`: one `{ code, message?, item? }` for each action), and with
   * `IdempotencyKeyReused` for a client request token that came with another request in the last ten minutes.
   */
  async transactWrite(
    requests: readonly TransactRequest[],
    clientRequestToken?: string,
  ): Promise<void> {
    if (requests.some(({ kind }) => kind === 'put' || kind === 'update')) {
      this.#disk.check('database')
    }
    const plan = readTransactWrite(requests, clientRequestToken, this.#expressions)
    await this.#perform(plan, this.#quotas)
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

  async #perform<Result>(plan: BatchPlan<Result>, quotas: MeteredWrites): Promise<Result> {
    const involved = [...new Set(plan.refs.map(({ table }) => table))]
    const siteId = siteOf(involved)
    // Before the transaction: what is not known yet is read over a connection of its own.
    for (const table of involved) await this.#deps.layouts.of(table)
    return quotas.run(siteId, (meter) =>
      retryOnConflict(() => {
        const means = { items: this.#items, now: this.#deps.clock.now(), meter }
        return this.#deps.database.withSite(siteId, (tx) => plan.perform(tx, means))
      }),
    )
  }
}

function indexError(error: unknown, name: string): Error | undefined {
  const code = codeOf(error)
  if (code === BACKFILLING) {
    return validationError(`Cannot read from backfilling global secondary index: ${name}`)
  }
  return code === NO_INDEX ? unknownIndex(name) : undefined
}

/** A transaction is one site's: tables of two in one call are a fault of the caller's code. */
function siteOf(tables: readonly Table[]): string {
  const [siteId, second] = new Set(tables.map((table) => table.siteId))
  if (siteId === undefined || second !== undefined) throw new Error('The tables are not one site’s')
  return siteId
}
