import type { Clock } from '#base/clock.ts'
import type { Database } from '#platform/postgres/database.ts'
import type { ItemCodec } from '#runtime/tables/codec.ts'
import type { ActionAnswer, ActionBody } from '#runtime/tables/engine.ts'
import { Expressions } from '#runtime/tables/expressions/expressions.ts'
import { type MeteredWrites, UNMETERED } from '#runtime/tables/quotas/charge.ts'
import { BatchItems } from '#runtime/tables/store/batch-items.ts'
import { retryingRaces } from '#runtime/tables/store/retries.ts'
import type { TableLayouts } from '#runtime/tables/store/table-layouts.ts'
import type { Table } from '#runtime/tables/table.ts'

import { batchGet } from './batch-get.ts'
import { batchWrite } from './batch-write.ts'
import type { Plan } from './plan.ts'
import type { RequestReading, TablesByName } from './requests.ts'
import { transactGet } from './transact-get.ts'
import { transactWrite } from './transact-write.ts'

export type BatchAction = keyof typeof PLANS

const PLANS = {
  BatchGetItem: batchGet,
  BatchWriteItem: batchWrite,
  TransactGetItems: transactGet,
  TransactWriteItems: transactWrite,
} as const satisfies Record<string, (body: ActionBody, reading: RequestReading) => Plan>

const WRITING: ReadonlySet<BatchAction> = new Set(['BatchWriteItem', 'TransactWriteItems'])

/** DynamoDB's actions on several items, of several tables of one site. */
export class TableBatches {
  readonly #database: Database
  readonly #clock: Clock
  readonly #layouts: TableLayouts
  readonly #items: BatchItems
  readonly #quotas: MeteredWrites
  readonly #expressions = new Expressions()

  /** Without `quotas` the tables have none. */
  constructor(deps: {
    database: Database
    clock: Clock
    layouts: TableLayouts
    quotas?: MeteredWrites
  }) {
    this.#database = deps.database
    this.#clock = deps.clock
    this.#layouts = deps.layouts
    this.#items = new BatchItems(deps)
    this.#quotas = deps.quotas ?? UNMETERED
  }

  /**
   * Fails with `ValidationError`, `ResourceNotFound` for a name without a table, `TransactionCanceled` (`fields.reasons`:
   * one `{ code, message?, item? }` for each action), `QuotaExceeded`, and `IdempotencyKeyReused` for a client request token that came with
   * another request in the last ten minutes. Of two that meet, one waits for the other.
   */
  async perform(
    tables: TablesByName,
    action: BatchAction,
    body: ActionBody,
    codec: ItemCodec,
  ): Promise<ActionAnswer> {
    const plan = PLANS[action](body, { tables, codec, expressions: this.#expressions })
    const involved = [...new Set(plan.places.map(({ table }) => table))]
    const siteId = siteOf(involved)
    // Before the transaction: what is not known yet is read over a connection of its own.
    for (const table of involved) await this.#layouts.of(table)
    const quotas = WRITING.has(action) ? this.#quotas : UNMETERED
    return quotas.run(siteId, (charge) =>
      retryingRaces(() => {
        const means = { items: this.#items, now: this.#clock.now(), charge }
        return this.#database.withSite(siteId, (tx) => plan.perform(tx, means))
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
