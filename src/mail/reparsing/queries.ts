import { sql } from 'kysely'

import { type MailHeaders, keptPeople } from '#mail/headers/mail-headers.ts'
import { hasFiles, type MailContent } from '#mail/parsing/model.ts'
import { PARSE_VERSION } from '#mail/parsing/parse-version.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

import type { ReparseProgress } from './model.ts'

/** A message that another version parsed. */
export interface OutdatedMail {
  readonly rawId: string
  readonly sizeBytes: string
  readonly parseVersion: number
  /** Whether it is in a mailbox. Bounces that go back to others are not. */
  readonly isShown: boolean
  /** Null for one that no parser has taken. */
  readonly attachments: unknown
}

/** A message in a mailbox that shows what was made. */
export interface RemadeMessage {
  readonly messageId: string
  readonly mailboxId: string
  readonly receivedAt: Date
}

/** As the index has it: `migrations/0566`. */
const IS_PARSED = sql<boolean>`parse_status <> 'pending'`

/** Those that an earlier version parsed, of the same version the newest first. */
export function selectOutdated(
  tx: SiteTx,
  limit: number,
  without: readonly string[],
): Promise<OutdatedMail[]> {
  return tx.db
    .selectFrom('mail_raw as raw')
    .leftJoin('mail_content as content', (join) =>
      join.onRef('content.site_id', '=', 'raw.site_id').onRef('content.raw_id', '=', 'raw.raw_id'),
    )
    .select([
      'raw.raw_id as rawId',
      'raw.size_bytes as sizeBytes',
      'raw.parse_version as parseVersion',
      'content.attachments',
      sql<boolean>`exists (select from mail_message m
        where m.site_id = raw.site_id and m.raw_id = raw.raw_id)`.as('isShown'),
    ])
    .where('raw.site_id', '=', tx.siteId)
    .where(IS_PARSED)
    .where('raw.parse_version', '<', PARSE_VERSION)
    .where(sql<boolean>`raw.raw_id <> all(${without}::text[])`)
    .orderBy('raw.parse_version', 'desc')
    .orderBy('raw.received_at', 'desc')
    .orderBy('raw.raw_id', 'desc')
    .limit(limit)
    .execute()
}

export async function hasOutdated(tx: SiteTx): Promise<boolean> {
  const row = await tx.db
    .selectFrom('mail_raw')
    .select('raw_id')
    .where('site_id', '=', tx.siteId)
    .where(IS_PARSED)
    .where('parse_version', '<', PARSE_VERSION)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

export async function selectReparseProgress(tx: SiteTx): Promise<ReparseProgress> {
  const { rows } = await sql<ReparseProgress>`
    select count(*)::int as messages,
      (count(*) filter (where parse_version < ${PARSE_VERSION}))::int as left,
      (count(*) filter (where reparse_failed))::int as failed
    from mail_raw where site_id = ${tx.siteId} and parse_status <> 'pending'`.execute(tx.db)
  return rows[0] ?? { messages: 0, left: 0, failed: 0 }
}

/** Has some more messages count as parsed by no version. Returns the last of them, or undefined when there are none. */
export async function markOutdated(
  tx: SiteTx,
  after: string,
  limit: number,
): Promise<string | undefined> {
  const { rows } = await sql<{ last: string | null }>`
    with page as (
      select raw_id from mail_raw
      where site_id = ${tx.siteId} and raw_id > ${after} and parse_status <> 'pending'
      order by raw_id limit ${limit}
    ), marked as (
      update mail_raw raw set parse_version = 0
      from page
      where raw.site_id = ${tx.siteId} and raw.raw_id = page.raw_id and raw.parse_version > 0
    )
    select max(raw_id) as last from page`.execute(tx.db)
  return rows[0]?.last ?? undefined
}

/** Replaces what was made of a message. Returns the messages that show it: none where it was removed, or replaced since. */
export async function replaceMade(
  tx: SiteTx,
  { rawId, parseVersion }: OutdatedMail,
  { headers, content }: { readonly headers: MailHeaders; readonly content: MailContent },
  now: Date,
): Promise<readonly RemadeMessage[]> {
  const remade = {
    raw_id: rawId,
    made_by: parseVersion,
    parse_version: PARSE_VERSION,
    ...content,
    has_attachments: hasFiles(content),
    subject: headers.subject,
    from_address: headers.from,
    recipients: keptPeople(headers),
    header_id: headers.messageId,
    in_reply_to: headers.inReplyTo,
    reference_ids: headers.references,
  }
  const { rows } = await sql<RemadeMessage>`
    select message_id as "messageId", mailbox_id as "mailboxId", received_at as "receivedAt"
    from mail_remake(${tx.siteId}, ${JSON.stringify(remade)}::text::jsonb, ${now})`.execute(tx.db)
  return rows
}

/** Leaves what was made of it, and notes that this version has nothing better: because it cannot, or because no mailbox shows it. */
export async function keepMade(
  tx: SiteTx,
  { rawId, parseVersion, isShown }: OutdatedMail,
): Promise<void> {
  await tx.db
    .updateTable('mail_raw')
    .set({ parse_version: PARSE_VERSION, reparse_failed: isShown })
    .where('site_id', '=', tx.siteId)
    .where('raw_id', '=', rawId)
    .where('parse_version', '=', parseVersion)
    .execute()
}
