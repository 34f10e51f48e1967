import { sql } from 'kysely'

import { type Actor, actorId, atLeast } from '#base/actor.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

import type { Folder } from './model.ts'

export interface ReadableMailbox {
  readonly mailboxId: string
  readonly localPart: string
}

/** What a change of a message has to know. */
export interface ReadableMessage extends ReadableMailbox {
  readonly messageId: string
  readonly folder: Folder
  readonly deleted: boolean
}

/** The one rule for reading: admins every mailbox of the site, others those that they own, in whatever state. */
const readableBy = (reader: Actor) =>
  atLeast(reader, 'admin')
    ? sql<boolean>`true`
    : sql<boolean>`exists (select from mailbox_owner mine
        where mine.site_id = mailbox.site_id and mine.mailbox_id = mailbox.mailbox_id
          and mine.sub = ${actorId(reader)})`

const readable = ({ db, siteId }: SiteTx, reader: Actor) =>
  db
    .selectFrom('mailbox')
    .select(['mailbox.mailbox_id as mailboxId', 'mailbox.local_part as localPart'])
    .where('mailbox.site_id', '=', siteId)
    .where(readableBy(reader))

/** Those that they may read; one of them where its local part is given. At most so many. */
export function selectReadableMailboxes(
  tx: SiteTx,
  reader: Actor,
  { localPart, limit }: { readonly localPart?: string | undefined; readonly limit: number },
): Promise<ReadableMailbox[]> {
  return readable(tx, reader)
    .$if(localPart !== undefined, (query) =>
      query.where('mailbox.local_part', '=', localPart ?? ''),
    )
    .orderBy('mailbox.mailbox_id')
    .limit(limit)
    .execute()
}

/** Those of these mailboxes that they may read. */
export function selectReadableOf(
  tx: SiteTx,
  reader: Actor,
  mailboxIds: readonly string[],
): Promise<ReadableMailbox[]> {
  return readable(tx, reader).where('mailbox.mailbox_id', 'in', mailboxIds).execute()
}

/** A message that they may read, locked until the transaction ends. */
export function lockReadableMessage(
  tx: SiteTx,
  reader: Actor,
  messageId: string,
): Promise<ReadableMessage | undefined> {
  return readable(tx, reader)
    .innerJoin('mail_message', (join) =>
      join
        .onRef('mail_message.site_id', '=', 'mailbox.site_id')
        .onRef('mail_message.mailbox_id', '=', 'mailbox.mailbox_id'),
    )
    .select(['mail_message.message_id as messageId', 'mail_message.folder', 'mail_message.deleted'])
    .where('mail_message.site_id', '=', tx.siteId)
    .where('mail_message.message_id', '=', messageId)
    .forNoKeyUpdate('mail_message')
    .executeTakeFirst()
}

/** A message that they may read, with all that its detail shows. */
export function selectReadableDetail(
  tx: SiteTx,
  reader: Actor,
  messageId: string,
): Promise<StoredDetail | undefined> {
  return readable(tx, reader)
    .innerJoin('mail_message as m', (join) =>
      join
        .onRef('m.site_id', '=', 'mailbox.site_id')
        .onRef('m.mailbox_id', '=', 'mailbox.mailbox_id'),
    )
    .innerJoin('mail_raw as raw', (join) =>
      join.onRef('raw.site_id', '=', 'm.site_id').onRef('raw.raw_id', '=', 'm.raw_id'),
    )
    .leftJoin('mail_content as content', (join) =>
      join.onRef('content.site_id', '=', 'm.site_id').onRef('content.raw_id', '=', 'm.raw_id'),
    )
    .select([
      'm.message_id as messageId',
      'm.folder',
      'm.deleted',
      'm.subject',
      'm.has_attachments as hasAttachments',
      'm.seen',
      'm.from_address as fromAddress',
      'm.recipients',
      'm.thread_id as threadId',
      'm.snippet',
      'm.received_at as receivedAt',
      'm.raw_id as rawId',
      'm.size_bytes as sizeBytes',
      'm.header_id as headerId',
      'm.in_reply_to as inReplyTo',
      'm.reference_ids as referenceIds',
      'raw.authentication',
      'raw.parse_status as parseStatus',
      'content.text',
      'content.html',
      'content.truncated',
      'content.attachments',
    ])
    .where('m.site_id', '=', tx.siteId)
    .where('m.message_id', '=', messageId)
    .executeTakeFirst()
}

export interface StoredDetail extends ReadableMailbox {
  readonly messageId: string
  readonly folder: Folder
  readonly deleted: boolean
  readonly subject: string
  readonly hasAttachments: boolean
  readonly seen: boolean
  readonly fromAddress: string
  readonly recipients: unknown
  readonly threadId: string
  readonly snippet: string
  readonly receivedAt: Date
  readonly rawId: string
  readonly sizeBytes: string
  readonly headerId: string | null
  readonly inReplyTo: string | null
  readonly referenceIds: readonly string[]
  readonly authentication: unknown
  readonly parseStatus: 'pending' | 'parsed' | 'failed'
  readonly text: string | null
  readonly html: string | null
  readonly truncated: boolean | null
  readonly attachments: unknown
}

/** What became of a message that was sent, in the order of the recipients' addresses. */
export function selectRecipients(tx: SiteTx, messageId: string) {
  return tx.db
    .selectFrom('mail_recipient')
    .select(['recipient', 'status', 'attempts', 'reply', 'updated_at as updatedAt'])
    .where('site_id', '=', tx.siteId)
    .where('message_id', '=', messageId)
    .orderBy('recipient')
    .execute()
}
