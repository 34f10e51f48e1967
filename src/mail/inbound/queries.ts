import { sql } from 'kysely'

import { byteaList } from '#platform/postgres/array-types.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

import type { Arrival } from './model.ts'

/** A mailbox as it is while its row is held. Counts come as text. */
export interface HeldMailbox {
  readonly mailboxId: string
  readonly status: 'ACTIVE' | 'DISABLED'
  readonly usedBytes: string
  readonly usedMessages: string
  readonly quotaBytes: string | null
  readonly quotaMessages: string | null
}

export interface HeldUsage {
  readonly usedBytes: string
  readonly usedMessages: string
  readonly deploymentSettings: unknown
}

export interface DeliveryKey {
  readonly mailboxId: string
  readonly hash: Buffer
}

/** A message that goes into a mailbox. */
export interface NewMessage extends DeliveryKey {
  readonly messageId: string
  readonly recipient: string
  readonly arrival: Arrival
}

export interface Growth {
  readonly mailboxId: string
  readonly bytes: number
  readonly messages: number
}

/** Locks them in the order of their ids, so that two batches never wait for each other. */
export async function holdMailboxes(
  tx: SiteTx,
  mailboxIds: readonly string[],
): Promise<readonly HeldMailbox[]> {
  return tx.db
    .selectFrom('mailbox')
    .select([
      'mailbox_id as mailboxId',
      'status',
      'used_bytes as usedBytes',
      'used_messages as usedMessages',
      'quota_bytes as quotaBytes',
      'quota_messages as quotaMessages',
    ])
    .where('site_id', '=', tx.siteId)
    .where('mailbox_id', 'in', mailboxIds)
    .orderBy('mailbox_id')
    .forNoKeyUpdate()
    .execute()
}

/** Undefined when the site is gone, or never had a mailbox. */
export async function holdUsage(tx: SiteTx): Promise<HeldUsage | undefined> {
  const { rows } = await sql<HeldUsage>`
    select usage.used_bytes as "usedBytes", usage.used_messages as "usedMessages",
           site.deployment_settings as "deploymentSettings"
    from mail_usage usage join site on site.site_id = usage.site_id
    where usage.site_id = ${tx.siteId}
    for no key update of usage`.execute(tx.db)
  return rows[0]
}

/** Those that were accepted already and are still remembered. */
export async function selectDeliveries(
  tx: SiteTx,
  keys: readonly DeliveryKey[],
  now: Date,
): Promise<readonly DeliveryKey[]> {
  // Time is not asked for in the statement: the index of what expires would give all that the site remembers.
  const { rows } = await sql<DeliveryKey & { expiresAt: Date }>`
    select key.mailbox_id as "mailboxId", key.hash, found.expires_at as "expiresAt"
    from unnest(${keys.map(({ mailboxId }) => mailboxId)}::text[],
      ${byteaList(keys.map(({ hash }) => hash))}::bytea[]) key (mailbox_id, hash)
    cross join lateral (
      select accepted.expires_at from mail_delivery accepted
      where accepted.site_id = ${tx.siteId} and accepted.mailbox_id = key.mailbox_id
        and accepted.delivery_hash = key.hash
      limit 1) found`.execute(tx.db)
  return rows.filter(({ expiresAt }) => expiresAt > now)
}

export async function insertDeliveries(
  tx: SiteTx,
  messages: readonly NewMessage[],
  expiresAt: Date,
): Promise<void> {
  await tx.db
    .insertInto('mail_delivery')
    .values(
      messages.map(({ mailboxId, hash, messageId }) => ({
        site_id: tx.siteId,
        mailbox_id: mailboxId,
        delivery_hash: hash,
        message_id: messageId,
        expires_at: expiresAt,
      })),
    )
    .onConflict((on) =>
      on.columns(['site_id', 'mailbox_id', 'delivery_hash']).doUpdateSet((row) => ({
        message_id: row.ref('excluded.message_id'),
        expires_at: row.ref('excluded.expires_at'),
      })),
    )
    .execute()
}

export async function insertRaws(tx: SiteTx, arrivals: readonly Arrival[]): Promise<void> {
  await tx.db
    .insertInto('mail_raw')
    .values(
      arrivals.map((arrival) => ({
        site_id: tx.siteId,
        raw_id: arrival.rawId,
        size_bytes: String(arrival.sizeBytes),
        sha256: arrival.sha256,
        envelope_from: arrival.sender,
        client: JSON.stringify(arrival.from),
        trace_header: arrival.traceHeader,
        authentication: JSON.stringify(arrival.authentication),
        bounce: null,
        received_at: arrival.receivedAt,
      })),
    )
    .execute()
}

/** Each is a conversation of its own until the parser knows better. */
export async function insertMessages(tx: SiteTx, messages: readonly NewMessage[]): Promise<void> {
  await tx.db
    .insertInto('mail_message')
    .values(
      messages.map(({ messageId, mailboxId, recipient, arrival }) => ({
        site_id: tx.siteId,
        message_id: messageId,
        mailbox_id: mailboxId,
        raw_id: arrival.rawId,
        size_bytes: String(arrival.sizeBytes),
        recipient,
        origin_folder: null,
        trashed_at: null,
        received_at: arrival.receivedAt,
        thread_id: messageId,
        subject: arrival.headers.subject,
        // With the name, as recipients are kept.
        from_address: arrival.headers.from,
        recipients: recipientsJson(arrival),
        header_id: arrival.headers.messageId,
        in_reply_to: arrival.headers.inReplyTo,
        reference_ids: [...arrival.headers.references],
      })),
    )
    .execute()
}

/** Counts new messages, of mailboxes that are held and of their site. */
export async function addUsage(tx: SiteTx, growth: readonly Growth[]): Promise<void> {
  await sql`
    with growth (mailbox_id, bytes, messages) as (
      select * from unnest(${growth.map(({ mailboxId }) => mailboxId)}::text[],
        ${growth.map(({ bytes }) => String(bytes))}::bigint[],
        ${growth.map(({ messages }) => String(messages))}::bigint[])
    ), counted as (
      update mailbox set used_bytes = used_bytes + growth.bytes,
        used_messages = used_messages + growth.messages
      from growth
      where mailbox.site_id = ${tx.siteId} and mailbox.mailbox_id = growth.mailbox_id
    )
    update mail_usage set
      used_bytes = used_bytes + (select sum(bytes) from growth),
      used_messages = used_messages + (select sum(messages) from growth)
    where site_id = ${tx.siteId}`.execute(tx.db)
}

function recipientsJson({ headers: { to, cc, replyTo } }: Arrival): string {
  return JSON.stringify({ to, cc, replyTo })
}
