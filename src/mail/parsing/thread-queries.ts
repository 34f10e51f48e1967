import { sql } from 'kysely'

import { byteaList } from '#platform/postgres/array-types.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

export interface Conversation {
  readonly threadId: string
  /** When its first message came; null when all of them are gone. */
  readonly since: Date | null
  /** Messages, counted up to one more than may be moved. */
  readonly size: number
}

/** Until the end of the transaction nobody else finds or merges conversations of the mailbox. */
export async function lockConversations(tx: SiteTx, mailboxId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('mail_thread'), hashtext(${mailboxId}))`.execute(
    tx.db,
  )
}

/** Those that any of the ids belongs to, the oldest first. */
export async function selectConversations(
  tx: SiteTx,
  mailboxId: string,
  hashes: readonly Uint8Array[],
  maxSize: number,
): Promise<readonly Conversation[]> {
  const { rows } = await sql<Conversation>`
    select known.thread_id as "threadId",
      (select min(received_at) from mail_message message where message.site_id = ${tx.siteId}
        and message.mailbox_id = ${mailboxId} and message.thread_id = known.thread_id) as since,
      (select count(*)::int from (select 1 from mail_message message
        where message.site_id = ${tx.siteId} and message.mailbox_id = ${mailboxId}
          and message.thread_id = known.thread_id limit ${maxSize + 1}) few) as size
    from (select distinct thread_id from mail_thread_reference where site_id = ${tx.siteId}
      and mailbox_id = ${mailboxId} and reference_hash = any(${byteaList(hashes)}::bytea[])) known
    order by since nulls last, known.thread_id`.execute(tx.db)
  return rows
}

export async function mergeConversations(
  tx: SiteTx,
  mailboxId: string,
  { from, into }: { readonly from: readonly string[]; readonly into: string },
): Promise<void> {
  for (const table of ['mail_message', 'mail_thread_reference'] as const) {
    await tx.db
      .updateTable(table)
      .set({ thread_id: into })
      .where('site_id', '=', tx.siteId)
      .where('mailbox_id', '=', mailboxId)
      .where('thread_id', 'in', from)
      .execute()
  }
}

/** An id that is known already stays where it is. */
export async function insertReferences(
  tx: SiteTx,
  mailboxId: string,
  threadId: string,
  hashes: readonly Uint8Array[],
): Promise<void> {
  await sql`insert into mail_thread_reference (site_id, mailbox_id, reference_hash, thread_id)
    select ${tx.siteId}, ${mailboxId}, hash, ${threadId} from unnest(${byteaList(hashes)}::bytea[]) hash
    on conflict do nothing`.execute(tx.db)
}
