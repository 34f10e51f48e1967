import { sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'

/** Of each kind; a longer list would add nothing. */
const MAX_FOUND = 100

export interface Counts {
  readonly usedBytes: string
  readonly usedMessages: string
  readonly heldBytes: string
  readonly heldMessages: string
}

export interface DifferingMailbox extends Counts {
  readonly localPart: string
}

export interface MessageUnlikeRaw {
  readonly id: string
  /** Else of another size. */
  readonly isWithout: boolean
}

export interface VerifiedRaw {
  readonly rawId: string
  readonly sizeBytes: string
  readonly sha256: Buffer
  /** Null before it was parsed. */
  readonly attachments: unknown
}

export async function countMailboxes(tx: SiteTx): Promise<number> {
  const { count } = await tx.db
    .selectFrom('mailbox')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('site_id', '=', tx.siteId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** One statement sees counts and messages at one moment, however much mail comes. */
export async function selectDifferingMailboxes(tx: SiteTx): Promise<readonly DifferingMailbox[]> {
  const { rows } = await sql<DifferingMailbox>`
    select mailbox.local_part as "localPart",
      mailbox.used_bytes as "usedBytes", mailbox.used_messages as "usedMessages",
      coalesce(held.bytes, 0)::text as "heldBytes", coalesce(held.messages, 0)::text as "heldMessages"
    from mailbox
    left join (
      select mailbox_id, sum(size_bytes) as bytes, count(*) as messages
      from mail_message where site_id = ${tx.siteId} group by mailbox_id) held
      on held.mailbox_id = mailbox.mailbox_id
    where mailbox.site_id = ${tx.siteId}
      and (mailbox.used_bytes, mailbox.used_messages)
        is distinct from (coalesce(held.bytes, 0), coalesce(held.messages, 0))
    order by mailbox.local_part limit ${MAX_FOUND}`.execute(tx.db)
  return rows
}

/** What the site counts beside what its mailboxes do; undefined when they agree. */
export async function selectDifferingSite(tx: SiteTx): Promise<Counts | undefined> {
  const { rows } = await sql<Counts>`
    select coalesce(usage.used_bytes, 0)::text as "usedBytes",
      coalesce(usage.used_messages, 0)::text as "usedMessages",
      held.bytes::text as "heldBytes", held.messages::text as "heldMessages"
    from (
      select coalesce(sum(used_bytes), 0) as bytes, coalesce(sum(used_messages), 0) as messages
      from mailbox where site_id = ${tx.siteId}) held
    left join mail_usage usage on usage.site_id = ${tx.siteId}
    where (coalesce(usage.used_bytes, 0), coalesce(usage.used_messages, 0))
      is distinct from (held.bytes, held.messages)`.execute(tx.db)
  return rows[0]
}

/** Messages whose raw message is gone, or has another size than they count. */
export async function selectMessagesUnlikeRaw(tx: SiteTx): Promise<readonly MessageUnlikeRaw[]> {
  const { rows } = await sql<MessageUnlikeRaw>`
    select m.message_id as id, raw.raw_id is null as "isWithout"
    from mail_message m
    left join mail_raw raw on raw.site_id = m.site_id and raw.raw_id = m.raw_id
    where m.site_id = ${tx.siteId}
      and (raw.raw_id is null or raw.size_bytes <> m.size_bytes)
    limit ${MAX_FOUND}`.execute(tx.db)
  return rows
}

export async function selectRawsWithoutMessage(tx: SiteTx): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    select raw.raw_id as id from mail_raw raw
    where raw.site_id = ${tx.siteId} and not exists (
      select from mail_message m where m.site_id = raw.site_id and m.raw_id = raw.raw_id)
      and not exists (select from mail_recipient r where r.site_id = raw.site_id
        and r.raw_id = raw.raw_id and r.status = 'queued')
    limit ${MAX_FOUND}`.execute(tx.db)
  return rows.map(({ id }) => id)
}

export async function selectRawsWithoutContent(tx: SiteTx): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    select raw.raw_id as id from mail_raw raw
    where raw.site_id = ${tx.siteId} and raw.parse_status = 'parsed' and not exists (
      select from mail_content content
      where content.site_id = raw.site_id and content.raw_id = raw.raw_id)
    limit ${MAX_FOUND}`.execute(tx.db)
  return rows.map(({ id }) => id)
}

/** By id. */
export function selectVerifiedRaws(
  tx: SiteTx,
  page: { readonly after: string; readonly limit: number },
): Promise<VerifiedRaw[]> {
  return tx.db
    .selectFrom('mail_raw as raw')
    .leftJoin('mail_content as content', (join) =>
      join.onRef('content.site_id', '=', 'raw.site_id').onRef('content.raw_id', '=', 'raw.raw_id'),
    )
    .select([
      'raw.raw_id as rawId',
      'raw.size_bytes as sizeBytes',
      'raw.sha256',
      'content.attachments',
    ])
    .where('raw.site_id', '=', tx.siteId)
    .where('raw.raw_id', '>', page.after)
    .orderBy('raw.raw_id')
    .limit(page.limit)
    .execute()
}

/** Those of these that have a row, or whose objects are about to be removed. */
export async function selectKnownRaws(
  tx: SiteTx,
  rawIds: readonly string[],
): Promise<{ readonly stored: ReadonlySet<string>; readonly removed: ReadonlySet<string> }> {
  if (rawIds.length === 0) return { stored: new Set(), removed: new Set() }
  const of = async (table: 'mail_raw' | 'mail_removed_object') => {
    const rows = await tx.db
      .selectFrom(table)
      .select('raw_id as rawId')
      .where('site_id', '=', tx.siteId)
      .where('raw_id', 'in', rawIds)
      .execute()
    return new Set(rows.map(({ rawId }) => rawId))
  }
  return { stored: await of('mail_raw'), removed: await of('mail_removed_object') }
}
