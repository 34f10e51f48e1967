import type { Clock } from '#base/clock.ts'
import { codeOf } from '#base/error-code.ts'
import type { Database } from '#platform/postgres/database.ts'

import type { ActionAnswer, ActionBody, ActionRequest } from './actions/action.ts'
import { readDeleteItem } from './actions/delete-item.ts'
import { readGetItem } from './actions/get-item.ts'
import type { ItemChange } from './actions/item-change.ts'
import type { ItemPage } from './actions/page-request.ts'
import { readPutItem } from './actions/put-item.ts'
import { readQuery } from './actions/query.ts'
import { readScan } from './actions/scan.ts'
import { readUpdateItem } from './actions/update-item.ts'
import type { ItemCodec } from './codec.ts'
import { Expressions } from './expressions/expressions.ts'
import { invalidRequest } from './fault.ts'
import { chargedChange, type MeteredWrites, UNMETERED } from './quotas/charge.ts'
import { slicedAnswer } from './sliced-answer.ts'
import { storeOf } from './store/grouped-store.ts'
import { ItemWrites } from './store/item-writes.ts'
import type { TableLayouts } from './store/table-layouts.ts'
import type { TableStore } from './store/table-store.ts'
import type { Table } from './table.ts'

export type { ActionAnswer, ActionBody }

export type ItemAction = 'GetItem' | 'PutItem' | 'UpdateItem' | 'DeleteItem' | 'Query' | 'Scan'

/** What `table_index_range` raises. */
const BACKFILLING = 'CT001'
const NO_INDEX = 'CT002'

/** DynamoDB's item actions on tables in Postgres. */
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

  /**
   * Fails with `ValidationError` or `ConditionalCheckFailed` in DynamoDB's words, with `ResourceNotFound` when the table is
   * gone, and with `QuotaExceeded`.
   */
  async perform(
    table: Table,
    action: ItemAction,
    body: ActionBody,
    codec: ItemCodec,
  ): Promise<ActionAnswer> {
    const request = { table, body, codec, expressions: this.#expressions }
    switch (action) {
      case 'GetItem':
        return this.#get(request)
      case 'PutItem':
        return this.#change(table, readPutItem(request))
      case 'UpdateItem':
        return this.#change(table, readUpdateItem(request))
      case 'DeleteItem':
        return this.#change(table, readDeleteItem(request))
      case 'Query':
        return this.#page(table, readQuery(request))
      case 'Scan':
        return this.#page(table, readScan(request))
    }
  }

  #change(table: Table, change: ItemChange): Promise<ActionAnswer> {
    return this.#quotas.run(table.siteId, (charge) =>
      this.#writes.perform(table, chargedChange(table, change, charge)),
    )
  }

  async #get(request: ActionRequest): Promise<ActionAnswer> {
    const { key, answer } = readGetItem(request)
    return answer(await this.#store.get(request.table, key))
  }

  async #page(table: Table, { request, answer }: ItemPage): Promise<ActionAnswer> {
    try {
      return await slicedAnswer(answer, await this.#store.page(table, request))
    } catch (error) {
      throw indexFault(error, request.index ?? '') ?? error
    }
  }
}

function indexFault(error: unknown, name: string): Error | undefined {
  const code = codeOf(error)
  if (code === BACKFILLING) {
    return invalidRequest(`Cannot read from backfilling global secondary index: ${name}`)
  }
  return code === NO_INDEX
    ? invalidRequest(`The table does not have the specified index: ${name}`)
    : undefined
}
