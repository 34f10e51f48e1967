import { sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'

import type { RecipientStatus } from './model.ts'

interface NewStaged {
  readonly attachmentRef: string
  readonly mailboxId: string
  readonly filename: string
  readonly contentType: string
  readonly sizeBytes: number
  readonly expiresAt: Date
}

export async function insertStaged(tx: SiteTx, file: NewStaged): Promise<void> {
  await tx.db
    .insertInto('mail_staged_attachment')
    .values({
      site_id: tx.siteId,
      attachment_ref: file.attachmentRef,
      mailbox_id: file.mailboxId,
      filename: file.filename,
      content_type: file.contentType,
      size_bytes: String(file.sizeBytes),
      expires_at: file.expiresAt,
    })
    .execute()
}

/** How many files of the mailbox wait for their message. */
export async function countStaged(tx: SiteTx, mailboxId: string, now: Date): Promise<number> {
  const { count } = await tx.db
    .selectFrom('mail_staged_attachment')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('site_id', '=', tx.siteId)
    .where('mailbox_id', '=', mailboxId)
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow()
  return count
}

/** Those of the mailbox that have not expired. */
export async function selectStaged(
  tx: SiteTx,
  mailboxId: string,
  attachmentRefs: readonly string[],
  now: Date,
): Promise<readonly Omit<NewStaged, 'mailboxId' | 'expiresAt'>[]> {
  const rows = await tx.db
    .selectFrom('mail_staged_attachment')
    .select([
      'attachment_ref as attachmentRef',
      'filename',
      'content_type as contentType',
      'size_bytes as sizeBytes',
    ])
    .where('site_id', '=', tx.siteId)
    .where('mailbox_id', '=', mailboxId)
    .where('attachment_ref', 'in', attachmentRefs)
    .where('expires_at', '>', now)
    .execute()
  return rows.map((row) => ({ ...row, sizeBytes: Number(row.sizeBytes) }))
}

/** Uses them up: of two messages that name one, the second finds it gone. Returns those that were there. */
export async function deleteStaged(
  tx: SiteTx,
  attachmentRefs: readonly string[],
): Promise<ReadonlySet<string>> {
  // In one order, so that two messages with the same files never wait for each other.
  const { rows } = await sql<{ ref: string }>`
    with held as (
      select attachment_ref from mail_staged_attachment
      where site_id = ${tx.siteId} and attachment_ref = any(${attachmentRefs}::text[])
      order by attachment_ref for update
    ), used as (
      delete from mail_staged_attachment staged using held
      where staged.site_id = ${tx.siteId} and staged.attachment_ref = held.attachment_ref
      returning staged.attachment_ref
    ), removed as (
      insert into mail_removed_object (site_id, raw_id)
      select ${tx.siteId}, attachment_ref from used on conflict do nothing
    )
    select attachment_ref as ref from used`.execute(tx.db)
  return new Set(rows.map(({ ref }) => ref))
}

/** A message in SENT is read already, and its conversation known at once. */
export async function markSent(tx: SiteTx, messageId: string, threadId: string): Promise<void> {
  await tx.db
    .updateTable('mail_message')
    .set({ folder: 'SENT', seen: true, thread_id: threadId })
    .where('site_id', '=', tx.siteId)
    .where('message_id', '=', messageId)
    .execute()
}

/** Why a message goes out: a mailbox sent it, forwards it, or it is a bounce that came to a return path. */
type RecipientKind = 'sent' | 'forwarded' | 'returned'

export interface QueuedMessage {
  readonly kind: RecipientKind
  readonly messageId: string
  /** Empty for a bounce. */
  readonly mailboxId: string
  readonly rawId: string
  readonly envelopeFrom: string
  readonly headerId: string
  readonly recipients: readonly string[]
  /** Whether the mailbox releases the message once every recipient has it. */
  readonly letsGo: boolean
}

/** `queued`, or `suppressed`: then nothing is sent there. */
interface InsertedRecipient {
  readonly messageId: string
  readonly recipient: string
  readonly status: RecipientStatus
}

/** Returns those that were not there already. */
export async function insertRecipients(
  tx: SiteTx,
  messages: readonly QueuedMessage[],
  now: Date,
): Promise<readonly InsertedRecipient[]> {
  const rows = messages.flatMap(({ recipients, ...message }) =>
    recipients.map((recipient) => ({
      kind: message.kind,
      message_id: message.messageId,
      mailbox_id: message.mailboxId,
      raw_id: message.rawId,
      envelope_from: message.envelopeFrom,
      header_id: message.headerId,
      lets_go: message.letsGo,
      recipient,
    })),
  )
  const { rows: inserted } = await sql<InsertedRecipient>`
    insert into mail_recipient (site_id, message_id, recipient, mailbox_id, raw_id, envelope_from,
                                header_id, kind, lets_go, status, reply, updated_at)
    select ${tx.siteId}, named.message_id, named.recipient, named.mailbox_id, named.raw_id,
           named.envelope_from, named.header_id, named.kind, named.lets_go,
           case when held.address is null then 'queued' else 'suppressed' end, held.detail, ${now}
    from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) named (
      kind text, message_id text, mailbox_id text, raw_id text, envelope_from text, header_id text,
      lets_go boolean, recipient text)
    left join mail_suppression held
      on held.site_id = ${tx.siteId} and held.address = lower(named.recipient)
    on conflict (site_id, message_id, recipient) do nothing
    returning message_id as "messageId", recipient, status`.execute(tx.db)
  return inserted
}

export interface ClaimedRecipient {
  readonly kind: RecipientKind
  readonly rawId: string
  readonly mailboxId: string
  /** Of the mailbox; null when it is gone, or there was none. */
  readonly localPart: string | null
  readonly letsGo: boolean
  /** Whether its sender was notified that it is late. */
  readonly isNoticed: boolean
  readonly traceHeader: string
  /** What was found out of its sender, where it came in. */
  readonly authentication: unknown
  readonly envelopeFrom: string
  readonly attempts: number
  readonly sizeBytes: string
  readonly subject: string | null
  readonly createdAt: Date
}

/** Counts an attempt. Undefined when there is nothing left to send. */
export async function claimRecipient(
  tx: SiteTx,
  messageId: string,
  recipient: string,
  now: Date,
): Promise<ClaimedRecipient | undefined> {
  const { rows } = await sql<ClaimedRecipient>`
    with claimed as (
      update mail_recipient set attempts = attempts + 1, updated_at = ${now}
      where site_id = ${tx.siteId} and message_id = ${messageId} and recipient = ${recipient}
        and status = 'queued'
      returning *)
    select claimed.kind, claimed.raw_id as "rawId", claimed.mailbox_id as "mailboxId",
      mailbox.local_part as "localPart", claimed.lets_go as "letsGo",
      claimed.noticed is not null as "isNoticed",
      claimed.envelope_from as "envelopeFrom", claimed.attempts, raw.size_bytes as "sizeBytes",
      raw.trace_header as "traceHeader", raw.authentication, message.subject, raw.received_at as "createdAt"
    from claimed
    join mail_raw raw on raw.site_id = ${tx.siteId} and raw.raw_id = claimed.raw_id
    left join mailbox
      on mailbox.site_id = ${tx.siteId} and mailbox.mailbox_id = claimed.mailbox_id
    left join mail_message message
      on message.site_id = ${tx.siteId} and message.message_id = ${messageId}`.execute(tx.db)
  return rows[0]
}

/** Returns false when another worker has finished it. */
export async function updateRecipient(
  tx: SiteTx,
  messageId: string,
  recipient: string,
  change: {
    readonly status: RecipientStatus
    readonly reply: string | null
    readonly now: Date
  },
): Promise<boolean> {
  const { numUpdatedRows } = await tx.db
    .updateTable('mail_recipient')
    .set({ status: change.status, reply: change.reply, updated_at: change.now })
    .where('site_id', '=', tx.siteId)
    .where('message_id', '=', messageId)
    .where('recipient', '=', recipient)
    .where('status', '=', 'queued')
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Waits for those who finish another recipient of the message now, so that one of them sees all of them finished. */
export async function lockRecipients(tx: SiteTx, messageId: string): Promise<void> {
  await sql`
    select from mail_recipient where site_id = ${tx.siteId} and message_id = ${messageId}
    order by recipient for no key update`.execute(tx.db)
}

export async function haveAll(tx: SiteTx, messageId: string): Promise<boolean> {
  const row = await tx.db
    .selectFrom('mail_recipient')
    .select('recipient')
    .where('site_id', '=', tx.siteId)
    .where('message_id', '=', messageId)
    .where('status', '!=', 'sent')
    .limit(1)
    .executeTakeFirst()
  return row === undefined
}

/** Of a message that came back to the mailbox that had sent or forwarded it. Returns the addresses that what it sent did not reach. */
export async function markBounced(
  tx: SiteTx,
  bounce: {
    readonly mailboxIds: readonly string[]
    readonly headerId: string
    readonly recipient: string | null
    readonly reply: string
    readonly now: Date
  },
): Promise<string[]> {
  const rows = await tx.db
    .updateTable('mail_recipient')
    .set({ status: 'bounced', reply: bounce.reply, updated_at: bounce.now })
    .where('site_id', '=', tx.siteId)
    .where('header_id', '=', bounce.headerId)
    .where('mailbox_id', 'in', bounce.mailboxIds)
    .where('status', '=', 'sent')
    .where(
      bounce.recipient === null
        ? // Without a name it can only be meant where there was one recipient.
          sql<boolean>`(select count(*) from mail_recipient other
            where other.site_id = mail_recipient.site_id
              and other.message_id = mail_recipient.message_id) = 1`
        : sql<boolean>`lower(recipient) = lower(${bounce.recipient})`,
    )
    .returning(['recipient', 'kind'])
    .execute()
  return rows.flatMap(({ recipient, kind }) => (kind === 'sent' ? [recipient] : []))
}
