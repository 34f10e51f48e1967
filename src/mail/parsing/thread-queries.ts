import { sql } from 'kysely'

import { byteaList } from '#platform/postgres/array-types.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

import { type KnownConversation, MAX_MOVED } from './conversations.ts'

/** What a conversation of a mailbox is known by: a message id, hashed. */
export interface ThreadReference {
  readonly mailboxId: string
  readonly hash: Buffer
}

export interface FoundConversation extends ThreadReference, KnownConversation {}

/** Until the end of the transaction no other finds or merges conversations of the mailbox. */
export async function lockConversations(tx: SiteTx, mailboxId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('mail_thread'), hashtext(${mailboxId}))`.execute(
    tx.db,
  )
}

/** Those that any of the references belongs to, once for each. */
export async function selectConversations(
  tx: SiteTx,
  references: readonly ThreadReference[],
): Promise<readonly FoundConversation[]> {
  const { rows } = await sql<FoundConversation>`
    with known as (
      select asked.mailbox_id, asked.hash, found.thread_id
      from unnest(${references.map(({ mailboxId }) => mailboxId)}::text[],
        ${byteaList(references.map(({ hash }) => hash))}::bytea[]) asked (mailbox_id, hash)
      cross join lateral (
        select reference.thread_id from mail_thread_reference reference
        where reference.site_id = ${tx.siteId} and reference.mailbox_id = asked.mailbox_id
          and reference.reference_hash = asked.hash
        limit 1) found
    ), conversation as (
      select mailbox_id, thread_id,
        (select min(received_at) from mail_message message where message.site_id = ${tx.siteId}
          and message.mailbox_id = named.mailbox_id and message.thread_id = named.thread_id) as since,
        (select count(*)::int from (select 1 from mail_message message
          where message.site_id = ${tx.siteId} and message.mailbox_id = named.mailbox_id
            and message.thread_id = named.thread_id limit ${MAX_MOVED + 1}) few) as size
      from (select distinct mailbox_id, thread_id from known) named
    )
    select mailbox_id as "mailboxId", known.hash, thread_id as "threadId", since, size
    from known join conversation using (mailbox_id, thread_id)`.execute(tx.db)
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

/** Those that are known already stay where they are. */
export async function insertReferences(
  tx: SiteTx,
  references: readonly (ThreadReference & { readonly threadId: string })[],
): Promise<void> {
  await sql`insert into mail_thread_reference (site_id, mailbox_id, reference_hash, thread_id)
    select ${tx.siteId}, mailbox_id, hash, thread_id
    from unnest(${references.map(({ mailboxId }) => mailboxId)}::text[],
      ${byteaList(references.map(({ hash }) => hash))}::bytea[],
      ${references.map(({ threadId }) => threadId)}::text[]) new (mailbox_id, hash, thread_id)
    on conflict do nothing`.execute(tx.db)
}
