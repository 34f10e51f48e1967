import { type Kysely, type Transaction, sql } from 'kysely'

import type { Tables } from './tables.ts'

/** A transaction with effects that wait for its commit. */
export interface Tx {
  readonly db: Transaction<Tables>
  /** Runs after commit, never after rollback. */
  onCommit(effect: () => void): void
}

/** A transaction that Postgres itself confines to one site. The only handle that tenants' queries accept. */
export interface SiteTx extends Tx {
  readonly siteId: string
}

/** A transaction that sees the directory of all sites, and nothing else of theirs. */
export interface DirectoryTx extends Tx {
  readonly scope: 'directory'
}

export class Database {
  readonly #db: Kysely<Tables>

  constructor(db: Kysely<Tables>) {
    this.#db = db
  }

  /** `site_id` is bound to `siteId` by row-level security for the length of `work`. */
  withSite<T>(siteId: string, work: (tx: SiteTx) => Promise<T>): Promise<T> {
    return this.#transaction(async (tx) => {
      // Row-level security reads this setting; `true` ends it with the transaction.
      await sql`select set_config('app.site_id', ${siteId}, true)`.execute(tx.db)
      return work({ ...tx, siteId })
    })
  }

  /** For finding sites by host and listing them; opens the `site` table only. */
  withDirectory<T>(work: (tx: DirectoryTx) => Promise<T>): Promise<T> {
    return this.#transaction(async (tx) => {
      await sql`select set_config('app.scope', 'directory', true)`.execute(tx.db)
      return work({ ...tx, scope: 'directory' })
    })
  }

  async ping(): Promise<void> {
    await sql`select 1`.execute(this.#db)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#db.destroy()
  }

  async #transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const effects: (() => void)[] = []
    const result = await this.#db
      .transaction()
      .execute((db) => work({ db, onCommit: (effect) => effects.push(effect) }))
    for (const effect of effects) effect()
    return result
  }
}
