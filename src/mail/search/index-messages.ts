import type { SiteTx } from '#platform/postgres/database.ts'

import { insertSearchWords, type SearchableMessage } from './queries.ts'

/** Makes a message found by its words. */
export const indexMessage = (tx: SiteTx, message: SearchableMessage): Promise<void> =>
  insertSearchWords(tx, message)
