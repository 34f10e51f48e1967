import { sql } from 'kysely'

import { objectIdOf, storedAttachments } from '#mail/messages/stored-attachments.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

export interface ExpiringTrash {
  readonly mailboxId: string
  readonly retentionDays: number
}

/** Tables of messages, in the order in which their rows can go. */
const TABLES = [
  'mail_message',
  'mail_recipient',
  'mail_raw',
  'mail_staged_attachment',
  'mail_thread_reference',
  'mail_delivery',
  'mail_removed_object',
] as const

/** The first mailbox, by id, that has messages and is gone: finds each mailbox once in the index, not each message. */
export async function selectGoneMailbox(tx: SiteTx): Promise<string | undefined> {
  const { rows } = await sql<{ mailboxId: string }>`
    with recursive held (mailbox_id) as (
      select min(mailbox_id) from mail_message where site_id = ${tx.siteId}
      union all
      select (select min(m.mailbox_id) from mail_message m
              where m.site_id = ${tx.siteId} and m.mailbox_id > held.mailbox_id)
      from held where held.mailbox_id is not null)
    select held.mailbox_id as "mailboxId" from held
    where held.mailbox_id is not null and not exists (
      select from mailbox where site_id = ${tx.siteId} and mailbox_id = held.mailbox_id)
    limit 1`.execute(tx.db)
  return rows[0]?.mailboxId
}

/** Returns the raw messages that they were of. */
export async function deleteMessagesOf(
  tx: SiteTx,
  mailboxId: string,
  limit: number,
): Promise<readonly string[]> {
  // Purges that meet wait for one another: of two that take the last two messages of one raw message, one has to see it.
  await sql`select from mail_usage where site_id = ${tx.siteId} for no key update`.execute(tx.db)
  const { rows } = await sql<{ rawId: string }>`
    delete from mail_message
    where site_id = ${tx.siteId} and message_id = any(array(
      select message_id from mail_message
      where site_id = ${tx.siteId} and mailbox_id = ${mailboxId} limit ${limit}))
    returning raw_id as "rawId"`.execute(tx.db)
  return rows.map(({ rawId }) => rawId)
}

/** What else is kept of a mailbox that is gone. */
export async function deleteTracesOf(tx: SiteTx, mailboxId: string): Promise<void> {
  for (const table of ['mail_thread_reference', 'mail_delivery'] as const) {
    await tx.db
      .deleteFrom(table)
      .where('site_id', '=', tx.siteId)
      .where('mailbox_id', '=', mailboxId)
      .execute()
  }
}

/** Returns how many. */
export async function deleteExpiredDeliveries(
  tx: SiteTx,
  now: Date,
  limit: number,
): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from mail_delivery
    where site_id = ${tx.siteId} and (mailbox_id, delivery_hash) in (
      select mailbox_id, delivery_hash from mail_delivery
      where site_id = ${tx.siteId} and expires_at < ${now} limit ${limit})`.execute(tx.db)
  return Number(numAffectedRows ?? 0n)
}

/** Raw messages whose rows are gone and whose objects are not. */
export async function selectRemoved(tx: SiteTx, limit: number): Promise<readonly string[]> {
  const rows = await tx.db
    .selectFrom('mail_removed_object')
    .select('raw_id as rawId')
    .where('site_id', '=', tx.siteId)
    .orderBy('raw_id')
    .limit(limit)
    .execute()
  return rows.map(({ rawId }) => rawId)
}

export async function deleteRemoved(tx: SiteTx, rawIds: readonly string[]): Promise<void> {
  await tx.db
    .deleteFrom('mail_removed_object')
    .where('site_id', '=', tx.siteId)
    .where('raw_id', 'in', rawIds)
    .execute()
}

/** Those of these that have a row. */
export async function selectRaws(
  tx: SiteTx,
  rawIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (rawIds.length === 0) return new Set()
  const rows = await tx.db
    .selectFrom('mail_raw')
    .select('raw_id as rawId')
    .where('site_id', '=', tx.siteId)
    .where('raw_id', 'in', rawIds)
    .execute()
  return new Set(rows.map(({ rawId }) => rawId))
}

/** The objects that these messages list as attachments; only of those that were parsed again before. */
export async function selectListedParts(
  tx: SiteTx,
  rawIds: readonly string[],
  reparsedBefore: Date,
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  if (rawIds.length === 0) return new Map()
  const rows = await tx.db
    .selectFrom('mail_raw as raw')
    .innerJoin('mail_content as content', (join) =>
      join.onRef('content.site_id', '=', 'raw.site_id').onRef('content.raw_id', '=', 'raw.raw_id'),
    )
    .select(['raw.raw_id as rawId', 'content.attachments'])
    .where('raw.site_id', '=', tx.siteId)
    .where('raw.raw_id', 'in', rawIds)
    .where('raw.reparsed_at', '<', reparsedBefore)
    .execute()
  return new Map(
    rows.map(({ rawId, attachments }) => [
      rawId,
      new Set(storedAttachments(attachments).map(objectIdOf)),
    ]),
  )
}

export async function countRaws(tx: SiteTx, until: Date | undefined): Promise<number> {
  const row = await tx.db
    .selectFrom('mail_raw')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('site_id', '=', tx.siteId)
    .$if(until !== undefined, (query) => query.where('received_at', '<=', until ?? new Date(0)))
    .executeTakeFirstOrThrow()
  return Number(row.count)
}

/** Mailboxes whose trash empties itself. */
export function selectExpiringTrash(tx: SiteTx): Promise<ExpiringTrash[]> {
  return tx.db
    .selectFrom('mailbox')
    .select(['mailbox_id as mailboxId', 'trash_retention_days as retentionDays'])
    .where('site_id', '=', tx.siteId)
    .where('trash_auto_purge', '=', true)
    .orderBy('mailbox_id')
    .execute()
}

export async function hasMailbox(tx: SiteTx): Promise<boolean> {
  const row = await tx.db
    .selectFrom('mailbox')
    .select('mailbox_id')
    .where('site_id', '=', tx.siteId)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Of a site that is gone: some rows of the first table that has any. Returns false once there are none. */
export async function deleteSomeOfSite(tx: SiteTx, limit: number): Promise<boolean> {
  for (const table of TABLES) {
    const { numAffectedRows } = await sql`
      delete from ${sql.table(table)}
      where site_id = ${tx.siteId} and ctid = any(array(
        select ctid from ${sql.table(table)} where site_id = ${tx.siteId} limit ${limit}))`.execute(
      tx.db,
    )
    if ((numAffectedRows ?? 0n) > 0n) return true
  }
  return false
}
