import { sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'

/** Postgres keeps at most 1 MiB of words a message. */
const MAX_CHARACTERS = 256 * 1024

export interface SearchableMessage {
  readonly messageId: string
  readonly mailboxId: string
  readonly receivedAt: Date
  /** Subject, people, names of attachments, text: whatever it is to be found by. */
  readonly text: string
}

/** Makes a message found by its words, which nothing changes afterwards: doing it twice is fine. They go with its row. */
export async function insertSearchWords(tx: SiteTx, message: SearchableMessage): Promise<void> {
  const { messageId, mailboxId, receivedAt, text } = message
  await tx.db
    .insertInto('mail_search')
    .values({
      site_id: tx.siteId,
      message_id: messageId,
      mailbox_id: mailboxId,
      received_at: receivedAt,
      words: sql`array_to_tsvector(array[${tx.siteId}, ${mailboxId}]) ||
        to_tsvector('simple', ${text.slice(0, MAX_CHARACTERS)})`,
    })
    .onConflict((on) => on.doNothing())
    .execute()
}
