import { type IsolationLevel, type Kysely, type Transaction, sql } from 'kysely'

import type { DatabaseSchema } from './database-schema.ts'
import type { RunStatement } from './pooled-connection.ts'

/** A transaction with effects that wait for its commit. */
export interface Tx {
  readonly db: Transaction<DatabaseSchema>
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

/** A transaction that sees when jobs of all sites are due, and nothing else of theirs. */
export interface DueJobsTx extends Tx {
  readonly scope: 'due-jobs'
}

export class Database {
  readonly #db: Kysely<DatabaseSchema>
  readonly #runAlone: RunStatement

  /** `runAlone` runs a statement as a transaction of its own, on the connections of `db`. */
  constructor(db: Kysely<DatabaseSchema>, runAlone: RunStatement) {
    this.#db = db
    this.#runAlone = runAlone
  }

  /** `site_id` is bound to `siteId` by row-level security for the length of `work`. */
  withSite<T>(siteId: string, work: (tx: SiteTx) => Promise<T>): Promise<T> {
    return this.#confined({ name: 'app.site_id', value: siteId }, (tx) => work({ ...tx, siteId }))
  }

  /** The same for reading alone, with all of it as it was at one moment, however long that takes. */
  withSiteSnapshot<T>(siteId: string, work: (tx: SiteTx) => Promise<T>): Promise<T> {
    const setting = { name: 'app.site_id', value: siteId }
    return this.#confined(setting, (tx) => work({ ...tx, siteId }), 'repeatable read')
  }

  /** Opens the `site` table alone, to find sites by host and to list them. */
  withDirectory<T>(work: (tx: DirectoryTx) => Promise<T>): Promise<T> {
    return this.#confined({ name: 'app.scope', value: 'directory' }, (tx) =>
      work({ ...tx, scope: 'directory' }),
    )
  }

  /** Opens `data_job_due` alone, to find the jobs that are due. */
  withDueJobs<T>(work: (tx: DueJobsTx) => Promise<T>): Promise<T> {
    return this.#confined({ name: 'app.scope', value: 'due-jobs' }, (tx) =>
      work({ ...tx, scope: 'due-jobs' }),
    )
  }

  /**
   * One statement in a transaction of its own, in one round trip. It confines itself to a site, as the functions of
   * `migrations/` do that begin with `set_config`: before, row-level security shows it nothing.
   */
  async statement<Row>(text: string, parameters: readonly unknown[]): Promise<Row[]> {
    const { rows } = await this.#runAlone<Row>(text, parameters)
    return rows
  }

  async ping(): Promise<void> {
    await sql`select 1`.execute(this.#db)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#db.destroy()
  }

  /** Row-level security reads the setting; `true` ends it with the transaction. */
  #confined<T>(
    setting: { readonly name: string; readonly value: string },
    work: (tx: Tx) => Promise<T>,
    isolation: IsolationLevel = 'read committed',
  ): Promise<T> {
    return this.#transaction(isolation, async (tx) => {
      const { name, value } = setting
      await sql`select set_config(${name}, ${value}, true)`.execute(tx.db)
      return work(tx)
    })
  }

  async #transaction<T>(isolation: IsolationLevel, work: (tx: Tx) => Promise<T>): Promise<T> {
    const effects: (() => void)[] = []
    const begun = this.#db.transaction()
    // What the server does anyway needs no words.
    const transaction =
      isolation === 'read committed'
        ? begun
        : begun.setIsolationLevel(isolation).setAccessMode('read only')
    const result = await transaction.execute((db) =>
      work({ db, onCommit: (effect) => effects.push(effect) }),
    )
    for (const effect of effects) effect()
    return result
  }
}
