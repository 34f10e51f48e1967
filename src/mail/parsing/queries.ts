import { sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'

import type { MailContent } from './model.ts'

export interface PendingMail {
  readonly rawId: string
  readonly sizeBytes: string
  readonly receivedAt: Date
}

/** A message in a mailbox, as far as parsing concerns it. */
export interface MailboxMessage {
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

/** The oldest first. */
export async function selectUnparsed(
  tx: SiteTx,
  limit: number,
  after: PendingMail | undefined,
): Promise<PendingMail[]> {
  let query = tx.db
    .selectFrom('mail_raw')
    .select(['raw_id as rawId', 'size_bytes as sizeBytes', 'received_at as receivedAt'])
    .where('site_id', '=', tx.siteId)
    .where('parse_status', '=', 'pending')
  if (after !== undefined) {
    query = query.where(sql<boolean>`(received_at, raw_id) > (${after.receivedAt}, ${after.rawId})`)
  }
  return query.orderBy('received_at').orderBy('raw_id').limit(limit).execute()
}

/** Returns how many there were with this one; 0 when there is nothing to parse any more. */
export async function countAttempt(tx: SiteTx, rawId: string): Promise<number> {
  const row = await pending(tx, rawId)
    .set({ parse_attempts: sql`parse_attempts + 1` })
    .returning('parse_attempts as attempts')
    .executeTakeFirst()
  return row?.attempts ?? 0
}

/** Keeps what was read. Returns false when somebody else has finished it, or it was removed. */
export async function finishRaw(
  tx: SiteTx,
  rawId: string,
  { status, bounce, text, html, truncated, attachments }: MailContent,
): Promise<boolean> {
  const row = await tx.db
    .with('finished', () =>
      pending(tx, rawId)
        .set({ parse_status: status, bounce: bounce === null ? null : JSON.stringify(bounce) })
        .returning('raw_id'),
    )
    .insertInto('mail_content')
    .columns(['site_id', 'raw_id', 'text', 'html', 'truncated', 'attachments'])
    .expression((db) =>
      db
        .selectFrom('finished')
        .select([
          sql<string>`${tx.siteId}::text`.as('site_id'),
          'raw_id',
          sql<string>`${text}::text`.as('text'),
          sql<string | null>`${html}::text`.as('html'),
          sql<boolean>`${truncated}::boolean`.as('truncated'),
          sql<string>`${JSON.stringify(attachments)}::text::jsonb`.as('attachments'),
        ]),
    )
    .returning('raw_id')
    .executeTakeFirst()
  return row !== undefined
}

export async function isKnown(tx: SiteTx, rawId: string): Promise<boolean> {
  const row = await tx.db
    .selectFrom('mail_raw')
    .select('raw_id')
    .where('site_id', '=', tx.siteId)
    .where('raw_id', '=', rawId)
    .executeTakeFirst()
  return row !== undefined
}

/** In the order in which their mailboxes are locked. */
export async function selectMailboxesOf(tx: SiteTx, rawId: string): Promise<string[]> {
  const rows = await tx.db
    .selectFrom('mail_message')
    .select('mailbox_id as mailboxId')
    .distinct()
    .where('site_id', '=', tx.siteId)
    .where('raw_id', '=', rawId)
    .orderBy('mailbox_id')
    .execute()
  return rows.map(({ mailboxId }) => mailboxId)
}

/** Held until the end, so that none is removed meanwhile. */
export async function holdMessages(tx: SiteTx, rawId: string): Promise<MailboxMessage[]> {
  return tx.db
    .selectFrom('mail_message')
    .select([
      'message_id as messageId',
      'mailbox_id as mailboxId',
      'thread_id as threadId',
      'received_at as receivedAt',
      'subject',
      'from_address as fromAddress',
      'recipients',
      'header_id as headerId',
      'in_reply_to as inReplyTo',
      'reference_ids as referenceIds',
    ])
    .where('site_id', '=', tx.siteId)
    .where('raw_id', '=', rawId)
    .orderBy('message_id')
    .forNoKeyUpdate()
    .execute()
}

export async function updateMessage(
  tx: SiteTx,
  messageId: string,
  shown: {
    readonly threadId: string
    readonly snippet: string
    readonly hasAttachments: boolean
  },
): Promise<void> {
  await tx.db
    .updateTable('mail_message')
    .set({
      thread_id: shown.threadId,
      snippet: shown.snippet,
      has_attachments: shown.hasAttachments,
    })
    .where('site_id', '=', tx.siteId)
    .where('message_id', '=', messageId)
    .execute()
}

/** Has the objects of a message that is gone removed once more. */
export async function insertRemovedObject(tx: SiteTx, rawId: string): Promise<void> {
  await tx.db
    .insertInto('mail_removed_object')
    .values({ site_id: tx.siteId, raw_id: rawId })
    .onConflict((on) => on.doNothing())
    .execute()
}

const pending = (tx: SiteTx, rawId: string) =>
  tx.db
    .updateTable('mail_raw')
    .where('site_id', '=', tx.siteId)
    .where('raw_id', '=', rawId)
    .where('parse_status', '=', 'pending')
