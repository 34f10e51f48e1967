import type { SiteTx } from '#platform/postgres/database.ts'

import { insertSearchWords, type SearchableMessage } from './queries.ts'

/** Makes messages found by their words. */
export const indexMessages = (tx: SiteTx, messages: readonly SearchableMessage[]): Promise<void> =>
  insertSearchWords(tx, messages)
