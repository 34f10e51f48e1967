import { sql } from 'kysely'

import type { SiteTx } from './database.ts'

/** Does the work, gives its result, and rolls back all that it changed; its effects after a commit never happen. */
export async function withRollback<Result>(
  tx: SiteTx,
  work: (tx: SiteTx) => Promise<Result>,
): Promise<Result> {
  await sql`savepoint taken_back`.execute(tx.db)
  try {
    return await work({ ...tx, onCommit: () => {} })
  } finally {
    await sql`rollback to savepoint taken_back`.execute(tx.db)
  }
}
