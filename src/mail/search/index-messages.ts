import type { SiteTx } from '#platform/postgres/database.ts'

import { deleteSearchWords, insertSearchWords, type SearchableMessage } from './queries.ts'

/** Makes messages found by their words. */
export const indexMessages = (tx: SiteTx, messages: readonly SearchableMessage[]): Promise<void> =>
  insertSearchWords(tx, messages)

/** Has messages found by these words, and no longer by the former ones. */
export async function reindexMessages(
  tx: SiteTx,
  messages: readonly SearchableMessage[],
): Promise<void> {
  await deleteSearchWords(
    tx,
    messages.map(({ messageId }) => messageId),
  )
  await insertSearchWords(tx, messages)
}
