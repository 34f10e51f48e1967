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
  readonly isForwarding: boolean
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

/** A message in a mailbox, and its conversation as far as it is known. */
export interface FiledMessage {
  readonly messageId: string
  readonly threadId: string
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
  const { rows } = await sql<HeldMailbox>`
    select mailbox_id as "mailboxId", status, used_bytes as "usedBytes",
           used_messages as "usedMessages", quota_bytes as "quotaBytes",
           quota_messages as "quotaMessages",
           exists (select from mail_forwarding forwarding
                   where forwarding.site_id = mailbox.site_id
                     and forwarding.mailbox_id = mailbox.mailbox_id
                     and forwarding.enabled) as "isForwarding"
    from mailbox
    where site_id = ${tx.siteId} and mailbox_id = any(${mailboxIds}::text[])
    order by mailbox_id
    for no key update of mailbox`.execute(tx.db)
  return rows
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

/** The message that a remembered delivery made. One that was purged since then began a conversation of its own. */
export async function selectDelivered(
  tx: SiteTx,
  { mailboxId, hash }: DeliveryKey,
): Promise<FiledMessage> {
  const { rows } = await sql<FiledMessage>`
    select delivery.message_id as "messageId",
           coalesce(message.thread_id, delivery.message_id) as "threadId"
    from mail_delivery delivery
    left join mail_message message
      on message.site_id = delivery.site_id and message.message_id = delivery.message_id
    where delivery.site_id = ${tx.siteId} and delivery.mailbox_id = ${mailboxId}
      and delivery.delivery_hash = ${hash}`.execute(tx.db)
  const [found] = rows
  if (!found) throw new Error('A delivery that was found is gone')
  return found
}

/**
 * All rows of new messages, which are remembered until `expiresAt`, in one statement whose text is the same for any number
 * of them. Each is a conversation of its own until the parser knows better.
 */
export async function insertMessages(
  tx: SiteTx,
  messages: readonly NewMessage[],
  expiresAt: Date,
): Promise<void> {
  const arrivals = [...new Set(messages.map(({ arrival }) => arrival))]
  await sql`
    with raw as (
      insert into mail_raw (site_id, raw_id, size_bytes, sha256, envelope_from, client,
                            trace_header, authentication, received_at)
      select ${tx.siteId}, raw_id, size_bytes, decode(sha256, 'hex'), envelope_from, client,
             trace_header, authentication, received_at
      from jsonb_to_recordset(${JSON.stringify(arrivals.map(rawRow))}::text::jsonb) arrived (
        raw_id text, size_bytes bigint, sha256 text, envelope_from text, client jsonb,
        trace_header text, authentication jsonb, received_at timestamptz)
    ), new as (
      select *
      from jsonb_to_recordset(${JSON.stringify(messages.map(messageRow))}::text::jsonb) message (
        message_id text, mailbox_id text, hash text, raw_id text, size_bytes bigint,
        recipient text, received_at timestamptz, subject text, from_address text,
        recipients jsonb, header_id text, in_reply_to text, reference_ids text[])
    ), delivery as (
      insert into mail_delivery (site_id, mailbox_id, delivery_hash, message_id, expires_at)
      select ${tx.siteId}, mailbox_id, decode(hash, 'hex'), message_id, ${expiresAt} from new
      on conflict (site_id, mailbox_id, delivery_hash) do update set
        message_id = excluded.message_id, expires_at = excluded.expires_at
    )
    insert into mail_message (site_id, message_id, mailbox_id, raw_id, size_bytes, recipient,
                              received_at, thread_id, subject, from_address, recipients, header_id,
                              in_reply_to, reference_ids)
    select ${tx.siteId}, message_id, mailbox_id, raw_id, size_bytes, recipient,
           received_at, message_id, subject, from_address, recipients, header_id,
           in_reply_to, reference_ids
    from new`.execute(tx.db)
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

const rawRow = (arrival: Arrival) => ({
  raw_id: arrival.rawId,
  size_bytes: arrival.sizeBytes,
  sha256: arrival.sha256.toString('hex'),
  envelope_from: arrival.sender,
  client: arrival.from,
  trace_header: arrival.traceHeader,
  authentication: arrival.authentication,
  received_at: arrival.receivedAt,
})

const messageRow = ({ messageId, mailboxId, hash, recipient, arrival }: NewMessage) => ({
  message_id: messageId,
  mailbox_id: mailboxId,
  hash: hash.toString('hex'),
  raw_id: arrival.rawId,
  size_bytes: arrival.sizeBytes,
  recipient,
  received_at: arrival.receivedAt,
  subject: arrival.headers.subject,
  // With the name, as recipients are kept.
  from_address: arrival.headers.from,
  recipients: {
    to: arrival.headers.to,
    cc: arrival.headers.cc,
    replyTo: arrival.headers.replyTo,
  },
  header_id: arrival.headers.messageId,
  in_reply_to: arrival.headers.inReplyTo,
  reference_ids: arrival.headers.references,
})
