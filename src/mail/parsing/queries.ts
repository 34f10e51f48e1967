import { type RawBuilder, sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'

import { LARGE_BYTES, type MailContent } from './model.ts'
import { PARSE_VERSION } from './parse-version.ts'

export interface PendingMail {
  readonly rawId: string
  readonly sizeBytes: string
  readonly receivedAt: Date
}

/** A message that was read, or given up, and is to be shown. */
export interface ReadMail {
  readonly rawId: string
  readonly content: MailContent
}

/** A message in a mailbox, as far as parsing concerns it. */
export interface MailboxMessage {
  readonly rawId: string
  readonly messageId: string
  readonly mailboxId: string
  readonly threadId: string
  readonly receivedAt: Date
  readonly subject: string
  readonly fromAddress: string
  readonly recipients: unknown
  readonly headerId: string | null
  readonly inReplyTo: string | null
  readonly referenceIds: readonly string[]
}

/** Those that are parsed together, the oldest first. */
export const selectUnparsed = (
  tx: SiteTx,
  limit: number,
  after: PendingMail | undefined,
): Promise<PendingMail[]> => selectPending(tx, limit, after, IS_SMALL)

/** Those that are parsed alone, the oldest first. */
export const selectLarge = (
  tx: SiteTx,
  limit: number,
  after: PendingMail | undefined,
): Promise<PendingMail[]> => selectPending(tx, limit, after, IS_LARGE)

const IS_SMALL = sql<boolean>`size_bytes <= ${sql.lit(LARGE_BYTES)} and parse_attempts = 0`
/** As the index has it: `migrations/0538`. */
const IS_LARGE = sql<boolean>`(size_bytes > ${sql.lit(LARGE_BYTES)} or parse_attempts > 0)`

async function selectPending(
  tx: SiteTx,
  limit: number,
  after: PendingMail | undefined,
  kind: RawBuilder<boolean>,
): Promise<PendingMail[]> {
  let query = tx.db
    .selectFrom('mail_raw')
    .select(['raw_id as rawId', 'size_bytes as sizeBytes', 'received_at as receivedAt'])
    .where('site_id', '=', tx.siteId)
    .where('parse_status', '=', 'pending')
    .where(kind)
  if (after !== undefined) {
    query = query.where(sql<boolean>`(received_at, raw_id) > (${after.receivedAt}, ${after.rawId})`)
  }
  return query.orderBy('received_at').orderBy('raw_id').limit(limit).execute()
}

/** Until the end of the transaction no message can be added to the site. */
export async function lockParsing(tx: SiteTx): Promise<void> {
  await sql`select from mail_usage where site_id = ${tx.siteId} for no key update`.execute(tx.db)
}

export const noteQueued = (tx: SiteTx, now: Date): Promise<void> => setParsingSince(tx, now)

export const noteEnd = (tx: SiteTx): Promise<void> => setParsingSince(tx, null)

async function setParsingSince(tx: SiteTx, since: Date | null): Promise<void> {
  await tx.db
    .updateTable('mail_usage')
    .set({ parsing_since: since })
    .where('site_id', '=', tx.siteId)
    .execute()
}

/** Returns how many there were with this one; 0 when there is nothing to parse any more. */
export async function countAttempt(tx: SiteTx, rawId: string): Promise<number> {
  const row = await pending(tx, rawId)
    .set({ parse_attempts: sql`parse_attempts + 1` })
    .returning('parse_attempts as attempts')
    .executeTakeFirst()
  return row?.attempts ?? 0
}

/** Uncounts an attempt that failed for another reason. */
export async function uncountAttempt(tx: SiteTx, rawId: string): Promise<void> {
  await pending(tx, rawId)
    .set({ parse_attempts: sql`greatest(parse_attempts - 1, 0)` })
    .execute()
}

/**
 * Keeps what was read, and locks the conversations of the mailboxes. Gives the messages that show it, the oldest first, locked
 * until the end so that none is removed: nothing for what another worker has finished, or removed.
 */
export async function finishRaws(
  tx: SiteTx,
  read: readonly ReadMail[],
): Promise<readonly MailboxMessage[]> {
  const finished = read.map(({ rawId, content }) => ({
    raw_id: rawId,
    parse_version: PARSE_VERSION,
    ...content,
  }))
  const { rows } = await sql<MailboxMessage>`
    select raw_id as "rawId", message_id as "messageId", mailbox_id as "mailboxId",
      thread_id as "threadId", received_at as "receivedAt", subject, from_address as "fromAddress",
      recipients, header_id as "headerId", in_reply_to as "inReplyTo",
      reference_ids as "referenceIds"
    from mail_finish(${tx.siteId}, ${JSON.stringify(finished)}::text::jsonb)`.execute(tx.db)
  return rows
}

export interface ShownMessage {
  readonly messageId: string
  readonly mailboxId: string
  readonly threadId: string
  readonly snippet: string
  readonly hasAttachments: boolean
}

/** Tells those who watch the mailboxes, once it is committed. */
export async function showMessages(tx: SiteTx, shown: readonly ShownMessage[]): Promise<void> {
  const rows = shown.map(({ messageId, mailboxId, threadId, snippet, hasAttachments }) => ({
    message_id: messageId,
    mailbox_id: mailboxId,
    thread_id: threadId,
    snippet,
    has_attachments: hasAttachments,
  }))
  await sql`select mail_show(${tx.siteId}, ${JSON.stringify(rows)}::text::jsonb)`.execute(tx.db)
}

/** Queues the removal of the objects of removed messages again. Returns whether any is. */
export async function noteOrphans(tx: SiteTx, rawIds: readonly string[]): Promise<boolean> {
  const { rows } = await sql`insert into mail_removed_object (site_id, raw_id)
    select ${tx.siteId}, raw_id from unnest(${rawIds}::text[]) gone (raw_id)
    where not exists (
      select from mail_raw known
      where known.site_id = ${tx.siteId} and known.raw_id = gone.raw_id)
    on conflict (site_id, raw_id) do update set removed_at = excluded.removed_at
    returning raw_id`.execute(tx.db)
  return rows.length > 0
}

const pending = (tx: SiteTx, rawId: string) =>
  tx.db
    .updateTable('mail_raw')
    .where('site_id', '=', tx.siteId)
    .where('raw_id', '=', rawId)
    .where('parse_status', '=', 'pending')
