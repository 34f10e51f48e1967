import { type RawBuilder, sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'

/** Which messages; all of the site's where nothing is said. */
export interface PurgeFilter {
  readonly mailboxId?: string
  /** Only what was deleted from the trash, or also what is in it; or what is where it came to. */
  readonly state?: 'deleted' | 'trashed' | 'received'
  /** Only what went to the trash before. */
  readonly trashedBefore?: Date
}

export interface PurgeCandidate {
  readonly messageId: string
  readonly mailboxId: string
}

export interface PurgedMessage {
  readonly messageId: string
  readonly mailboxId: string
  readonly rawId: string
  readonly sizeBytes: string
}

export async function selectMailboxId(tx: SiteTx, localPart: string): Promise<string | undefined> {
  const row = await tx.db
    .selectFrom('mailbox')
    .select('mailbox_id as mailboxId')
    .where('site_id', '=', tx.siteId)
    .where('local_part', '=', localPart)
    .executeTakeFirst()
  return row?.mailboxId
}

/** By id, so that a page follows the one before; only those of mailboxes that are there. */
export async function selectPurgeable(
  tx: SiteTx,
  filter: PurgeFilter,
  page: { readonly limit: number; readonly after: string },
): Promise<readonly PurgeCandidate[]> {
  const { rows } = await sql<PurgeCandidate>`
    select m.message_id as "messageId", m.mailbox_id as "mailboxId"
    from mail_message m
    where ${matches(tx, filter)} and m.message_id > ${page.after}
    order by m.message_id limit ${page.limit}`.execute(tx.db)
  return rows
}

export async function countPurgeable(tx: SiteTx, filter: PurgeFilter): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from mail_message m where ${matches(tx, filter)}`.execute(tx.db)
  return rows[0]?.count ?? 0
}

export async function selectCandidates(
  tx: SiteTx,
  messageIds: readonly string[],
): Promise<readonly PurgeCandidate[]> {
  const { rows } = await sql<PurgeCandidate>`
    select m.message_id as "messageId", m.mailbox_id as "mailboxId"
    from mail_message m
    where ${matches(tx, {})} and m.message_id = any(${messageIds}::text[])`.execute(tx.db)
  return rows
}

/** Locks these mailboxes and the site's counts, in the order in which a message that comes locks them. */
export async function lockCounts(tx: SiteTx, mailboxIds: readonly string[]): Promise<void> {
  await sql`
    select from mailbox where site_id = ${tx.siteId} and mailbox_id = any(${mailboxIds}::text[])
    order by mailbox_id for no key update`.execute(tx.db)
  await sql`
    select from mail_usage where site_id = ${tx.siteId} for no key update`.execute(tx.db)
}

/** Those that are still there and still match. Deletes their words, too. */
export async function deleteMessages(
  tx: SiteTx,
  messageIds: readonly string[],
  filter: PurgeFilter,
): Promise<readonly PurgedMessage[]> {
  const { rows } = await sql<PurgedMessage>`
    delete from mail_message m
    where ${matches(tx, filter)} and m.message_id = any(${messageIds}::text[])
    returning m.message_id as "messageId", m.mailbox_id as "mailboxId", m.raw_id as "rawId",
              m.size_bytes as "sizeBytes"`.execute(tx.db)
  return rows
}

/**
 * Of these those that are in no mailbox any more and have no recipient waiting; their objects are to be removed. Returns whether
 * there were any.
 */
export async function deleteUnusedRaws(tx: SiteTx, rawIds: readonly string[]): Promise<boolean> {
  const { numAffectedRows } = await sql`
    with gone as (
      delete from mail_raw raw
      where raw.site_id = ${tx.siteId} and raw.raw_id = any(${rawIds}::text[])
        and not exists (select from mail_message m
                        where m.site_id = raw.site_id and m.raw_id = raw.raw_id)
        and not exists (select from mail_recipient r where r.site_id = raw.site_id
                        and r.raw_id = raw.raw_id and r.status = 'queued')
      returning raw.raw_id)
    insert into mail_removed_object (site_id, raw_id) select ${tx.siteId}, raw_id from gone
    on conflict do nothing`.execute(tx.db)
  return (numAffectedRows ?? 0n) > 0n
}

export async function subtractCounts(
  tx: SiteTx,
  mailboxId: string,
  removed: { readonly bytes: number; readonly messages: number },
): Promise<void> {
  const { bytes, messages } = removed
  const less = sql`used_bytes = used_bytes - ${bytes}, used_messages = used_messages - ${messages}`
  await sql`
    update mailbox set ${less}
    where site_id = ${tx.siteId} and mailbox_id = ${mailboxId}`.execute(tx.db)
  await sql`update mail_usage set ${less} where site_id = ${tx.siteId}`.execute(tx.db)
}

function matches(tx: SiteTx, filter: PurgeFilter): RawBuilder<boolean> {
  const { mailboxId, state, trashedBefore } = filter
  const inMailbox =
    mailboxId === undefined
      ? sql`exists (select from mailbox
          where mailbox.site_id = m.site_id and mailbox.mailbox_id = m.mailbox_id)`
      : sql`m.mailbox_id = ${mailboxId}`
  return sql`m.site_id = ${tx.siteId} and ${inMailbox}
    ${state === 'deleted' ? sql`and m.folder = 'TRASH' and m.deleted` : sql``}
    ${state === 'trashed' ? sql`and m.folder = 'TRASH' and m.trashed_at is not null` : sql``}
    ${state === 'received' ? sql`and m.folder = 'INBOX'` : sql``}
    ${trashedBefore === undefined ? sql`` : sql`and m.trashed_at <= ${trashedBefore}`}`
}
