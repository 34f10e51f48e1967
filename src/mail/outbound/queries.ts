import { sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'

import type { FailedMessage, DeliveryStatus } from './model.ts'

/** Old rows that are deleted with each insert, at most. */
const SWEPT = 20

export interface ClaimedMessage {
  readonly sealed: Buffer
  /** Attempts so far, this one included. */
  readonly attempts: number
  readonly createdAt: Date
}

/** The last message of a page. */
export interface MessageCursor {
  readonly createdAt: Date
  readonly messageId: string
}

export async function insertMessage(
  tx: SiteTx,
  message: {
    readonly messageId: string
    readonly kind: string
    readonly recipient: string
    readonly sealed: Buffer
    readonly createdAt: Date
  },
): Promise<void> {
  await tx.db
    .insertInto('outbound_message')
    .values({
      site_id: tx.siteId,
      message_id: message.messageId,
      kind: message.kind,
      recipient: message.recipient,
      status: 'queued',
      sealed: message.sealed,
      error: null,
      created_at: message.createdAt,
      finished_at: null,
    })
    .execute()
}

/** Deletes old messages of any status. Skips locked rows, or senders would wait for each other here. */
export async function sweepMessages(tx: SiteTx, before: Date): Promise<void> {
  await sql`delete from outbound_message where site_id = ${tx.siteId} and ctid = any(array(
    select ctid from outbound_message
    where site_id = ${tx.siteId} and created_at < ${before}
    order by created_at limit ${SWEPT} for update skip locked))`.execute(tx.db)
}

/** Counts an attempt. Returns undefined when there is nothing left to send. */
export async function claimMessage(
  tx: SiteTx,
  messageId: string,
): Promise<ClaimedMessage | undefined> {
  const row = await updateQueued(tx, messageId)
    .set({ attempts: sql`attempts + 1` })
    .returning(['sealed', 'attempts', 'created_at as createdAt'])
    .executeTakeFirst()
  return row?.sealed ? { ...row, sealed: row.sealed } : undefined
}

/** Records how a message ended and deletes its text. */
export async function finishMessage(
  tx: SiteTx,
  messageId: string,
  end: {
    readonly status: DeliveryStatus
    readonly error: string | null
    readonly finishedAt: Date
  },
): Promise<void> {
  await updateQueued(tx, messageId)
    .set({ status: end.status, error: end.error, finished_at: end.finishedAt, sealed: null })
    .execute()
}

/** What was given up, newest first. */
export async function selectFailedMessages(
  tx: SiteTx,
  page: { readonly limit: number; readonly after: MessageCursor | undefined },
): Promise<FailedMessage[]> {
  const { after } = page
  let query = tx.db
    .selectFrom('outbound_message')
    .select([
      'message_id as messageId',
      'kind',
      'recipient as to',
      'attempts',
      'error',
      'created_at as createdAt',
      'finished_at as failedAt',
    ])
    .where('site_id', '=', tx.siteId)
    .where('status', '=', 'failed')
  if (after !== undefined) {
    query = query.where(
      sql<boolean>`(created_at, message_id) < (${after.createdAt}, ${after.messageId})`,
    )
  }
  return query
    .orderBy('created_at', 'desc')
    .orderBy('message_id', 'desc')
    .limit(page.limit)
    .execute()
}

export async function noteFailure(tx: SiteTx, messageId: string, error: string): Promise<void> {
  await updateQueued(tx, messageId).set({ error }).execute()
}

const updateQueued = (tx: SiteTx, messageId: string) =>
  tx.db
    .updateTable('outbound_message')
    .where('site_id', '=', tx.siteId)
    .where('message_id', '=', messageId)
    .where('status', '=', 'queued')
