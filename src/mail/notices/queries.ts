import { sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'

import type { TroubledMessage, TroubledRecipient } from './model.ts'

interface TroubledRow extends Omit<TroubledMessage, 'recipients'>, TroubledRecipient {}

/** Undefined when the sender has been notified of everything. `lateBefore`: what was sent before is late by now. */
export async function selectTroubled(
  tx: SiteTx,
  messageId: string,
  lateBefore: Date,
): Promise<TroubledMessage | undefined> {
  const { rows } = await sql<TroubledRow>`
    select recipient.mailbox_id as "mailboxId", recipient.envelope_from as mailbox,
           recipient.raw_id as "rawId", recipient.header_id as "headerId",
           coalesce(message.subject, '') as subject, raw.received_at as "sentAt",
           recipient.recipient, coalesce(recipient.reply, '') as reply,
           case when recipient.status = 'queued' then 'delayed' else 'failed' end as action
    from mail_recipient recipient
    join mail_raw raw on raw.site_id = recipient.site_id and raw.raw_id = recipient.raw_id
    left join mail_message message on message.site_id = recipient.site_id
      and message.message_id = recipient.message_id
    where recipient.site_id = ${tx.siteId} and recipient.message_id = ${messageId}
      and recipient.kind = 'sent'
      and (recipient.status in ('failed', 'suppressed') and recipient.noticed is distinct from 'failed'
        or recipient.status = 'queued' and recipient.reply is not null and recipient.noticed is null
          and raw.received_at <= ${lateBefore})
    order by recipient.recipient`.execute(tx.db)
  const [first] = rows
  if (!first) return undefined
  const { recipient: _, reply: __, action: ___, ...message } = first
  const recipients = rows.map(({ recipient, reply, action }) => ({ recipient, reply, action }))
  return { ...message, recipients }
}

/**
 * Marks all of them, or none: returns false when one was reported since, or is in no such trouble any more. The rows are locked
 * before they are read, so that of two runs the second sees what the first has marked.
 */
export async function markNoticed(
  tx: SiteTx,
  messageId: string,
  recipients: readonly TroubledRecipient[],
): Promise<boolean> {
  const rows = recipients.map(({ recipient, action }) => ({ recipient, action }))
  const reported = sql`jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) reported (recipient text, action text)`
  const unreported = await sql`
    select from mail_recipient join ${reported} on reported.recipient = mail_recipient.recipient
    where mail_recipient.site_id = ${tx.siteId} and mail_recipient.message_id = ${messageId}
      and (reported.action = 'delayed' and mail_recipient.status = 'queued' and mail_recipient.noticed is null
        or reported.action = 'failed' and mail_recipient.status in ('failed', 'suppressed')
          and mail_recipient.noticed is distinct from 'failed')
    order by mail_recipient.recipient
    for no key update of mail_recipient`.execute(tx.db)
  if (unreported.rows.length !== recipients.length) return false
  await sql`
    update mail_recipient set noticed = reported.action
    from ${reported}
    where mail_recipient.site_id = ${tx.siteId} and mail_recipient.message_id = ${messageId}
      and mail_recipient.recipient = reported.recipient`.execute(tx.db)
  return true
}
