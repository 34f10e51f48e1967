import { sql } from 'kysely'

import { keptPeople } from '#mail/headers/mail-headers.ts'
import { DEFAULT_MAIL_LIMITS } from '#mail/quotas/limits.ts'
import { byteaList } from '#platform/postgres/array-types.ts'
import type { Database, SiteTx } from '#platform/postgres/database.ts'
import { query } from '#platform/postgres/query-text.ts'

import type { InboundMessage } from './model.ts'

/** A mailbox as it is while its row is held. Counts come as text. */
export interface LockedMailbox {
  readonly mailboxId: string
  readonly status: 'ACTIVE' | 'DISABLED'
  readonly usedBytes: string
  readonly usedMessages: string
  readonly quotaBytes: string | null
  readonly quotaMessages: string | null
  readonly isForwarding: boolean
}

export interface LockedMailUsage {
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
  readonly arrival: InboundMessage
}

/** A message in a mailbox, and its conversation as far as it is known. */
export interface FiledMessage {
  readonly messageId: string
  readonly threadId: string
}

/** Locks them in the order of their ids, so that two batches never wait for each other. */
export async function lockMailboxes(
  tx: SiteTx,
  mailboxIds: readonly string[],
): Promise<readonly LockedMailbox[]> {
  const { rows } = await sql<LockedMailbox>`
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
export async function lockMailUsage(tx: SiteTx): Promise<LockedMailUsage | undefined> {
  const { rows } = await sql<LockedMailUsage>`
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
 * All rows of new messages, which are remembered until `expiresAt`, and their counts. Their mailboxes and the site's usage
 * are held. Tells those who watch the mailboxes, once it is committed.
 */
export async function insertMessages(
  tx: SiteTx,
  messages: readonly NewMessage[],
  expiresAt: Date,
): Promise<void> {
  const { arrivals, filed } = rowsOf(messages)
  await sql`select mail_insert(${tx.siteId}, ${arrivals}::text::jsonb, ${filed}::text::jsonb,
    ${expiresAt})`.execute(tx.db)
}

/** When messages come, until when they are remembered, and since when a job that is to parse them may have been queued. */
export interface ArrivalTimes {
  readonly now: Date
  readonly expiresAt: Date
  readonly parsingSince: Date
}

/**
 * The same in one statement, and committed, where nothing is to be decided: they are new, have room, go no further, and a job
 * will parse them. Returns false when any of that is not so: then nothing was done.
 */
export async function insertPlainMessages(
  database: Database,
  siteId: string,
  messages: readonly NewMessage[],
  { now, expiresAt, parsingSince }: ArrivalTimes,
): Promise<boolean> {
  const { arrivals, filed } = rowsOf(messages)
  const { mailBytes, mailMessages } = DEFAULT_MAIL_LIMITS
  const [row] = await database.statement<{ taken: boolean }>(
    ...query`select mail_arrive(${siteId}, ${arrivals}::text::jsonb, ${filed}::text::jsonb,
      ${now.toISOString()}::text::timestamptz, ${expiresAt.toISOString()}::text::timestamptz,
      ${parsingSince.toISOString()}::text::timestamptz,
      ${`{${mailBytes},${mailMessages}}`}::text::bigint[]) as taken`,
  )
  return row?.taken === true
}

function rowsOf(messages: readonly NewMessage[]): { arrivals: string; filed: string } {
  const arrivals = [...new Set(messages.map(({ arrival }) => arrival))]
  return {
    arrivals: JSON.stringify(arrivals.map(rawRow)),
    filed: JSON.stringify(messages.map(messageRow)),
  }
}

const rawRow = (arrival: InboundMessage) => ({
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
  recipients: keptPeople(arrival.headers),
  header_id: arrival.headers.messageId,
  in_reply_to: arrival.headers.inReplyTo,
  reference_ids: arrival.headers.references,
})
