import type { Clock } from '#base/clock.ts'
import type { Database } from '#platform/postgres/database.ts'
import type {
  BatchGetRequest,
  BatchWriteRequest,
  TransactRequest,
} from '#runtime/tables/api/action-fields.ts'
import { Expressions } from '#runtime/tables/expressions/expressions.ts'
import { type MeteredWrites, UNMETERED } from '#runtime/tables/quotas/charge.ts'
import { BatchItems } from '#runtime/tables/store/batch-items.ts'
import { retryOnConflict } from '#runtime/tables/store/conflict-retry.ts'
import type { TableLayouts } from '#runtime/tables/store/table-layouts.ts'
import type { Table } from '#runtime/tables/table.ts'

import { type FoundBatch, readBatchGet } from './batch-get.ts'
import { readBatchWrite } from './batch-write.ts'
import type { BatchPlan } from './plan.ts'
import { readTransactWrite } from './transact-write.ts'

/**
 * DynamoDB's actions on several items, of several tables of one site. All fail with `ValidationError` in DynamoDB's words,
 * and with `ResourceNotFound` when a table is gone. Of two writes that meet, one waits for the other.
 */
export class TableBatches {
  readonly #database: Database
  readonly #clock: Clock
  readonly #layouts: TableLayouts
  readonly #items: BatchItems
  readonly #quotas: MeteredWrites
  readonly #expressions = new Expressions()

  /** Without `quotas` the tables have none. */
  constructor(deps: {
    readonly database: Database
    readonly clock: Clock
    readonly layouts: TableLayouts
    readonly quotas?: MeteredWrites
  }) {
    this.#database = deps.database
    this.#clock = deps.clock
    this.#layouts = deps.layouts
    this.#items = new BatchItems(deps)
    this.#quotas = deps.quotas ?? UNMETERED
  }

  /** In the order of the requests. */
  async get(requests: readonly BatchGetRequest[]): Promise<readonly FoundBatch[]> {
    return this.#perform(readBatchGet(requests, this.#expressions), UNMETERED)
  }

  /** Fails with `QuotaExceeded`. */
  async write(requests: readonly BatchWriteRequest[]): Promise<void> {
    await this.#perform(readBatchWrite(requests), this.#quotas)
  }

  /**
   * Fails with `TransactionCanceled` (`fields.reasons`: one `{ code, message?, item? }` for each action), `QuotaExceeded`,
   * and `IdempotencyKeyReused` for a client request token that came with another request in the last ten minutes.
   */
  async transactWrite(
    requests: readonly TransactRequest[],
    clientRequestToken?: string,
  ): Promise<void> {
    const plan = readTransactWrite(requests, clientRequestToken, this.#expressions)
    await this.#perform(plan, this.#quotas)
  }

  async #perform<Result>(plan: BatchPlan<Result>, quotas: MeteredWrites): Promise<Result> {
    const involved = [...new Set(plan.refs.map(({ table }) => table))]
    const siteId = siteOf(involved)
    // Before the transaction: what is not known yet is read over a connection of its own.
    for (const table of involved) await this.#layouts.of(table)
    return quotas.run(siteId, (meter) =>
      retryOnConflict(() => {
        const deps = { items: this.#items, now: this.#clock.now(), meter }
        return this.#database.withSite(siteId, (tx) => plan.perform(tx, deps))
      }),
    )
  }
}

/** A transaction is one site's: tables of two in one call are a fault of the caller's code. */
function siteOf(tables: readonly Table[]): string {
  const [siteId, second] = new Set(tables.map((table) => table.siteId))
  if (siteId === undefined || second !== undefined) throw new Error('The tables are not one site’s')
  return siteId
}
