import { createHash, randomBytes, randomUUID } from 'node:crypto'

import { readMailHeaders } from '#mail/headers/mail-headers.ts'
import type { InboundMessage } from '#mail/inbound/model.ts'
import { insertMessages } from '#mail/inbound/queries.ts'
import { rawKey } from '#mail/objects/mail-keys.ts'

import type { Stack } from './stack.ts'

export interface ReceivedMail {
  readonly siteId: string
  readonly rawId: string
  readonly messageId: string
}

interface ReceiveOptions {
  readonly mailboxes?: readonly string[]
  readonly receivedAt?: Date
  readonly host?: string
}

/** A message as it is right after it was acknowledged: its bytes, its rows, and not parsed yet. */
export async function receive(
  stack: Stack,
  raw: Buffer,
  { mailboxes = ['mbx_one'], receivedAt = new Date(), host = 'one.test' }: ReceiveOptions = {},
): Promise<ReceivedMail> {
  const { siteId } = await stack.context.sites.find(host)
  const rawId = `raw_${randomUUID()}`
  await stack.context.objects.put(rawKey(siteId, rawId), raw)
  const arrival = arrivalOf(raw, { rawId, receivedAt })
  const messages = mailboxes.map((mailboxId) => ({
    mailboxId,
    messageId: `msg_${randomUUID()}`,
    hash: randomBytes(32),
    recipient: `hello@${host}`,
    arrival,
  }))
  await stack.inSite(host, async (tx) => {
    await insertMessages(tx, messages, new Date())
  })
  return { siteId, rawId, messageId: messages[0]?.messageId ?? '' }
}

/** A message whose bytes are safe, before its rows are there. */
export const arrivalOf = (raw: Buffer, given: Partial<InboundMessage> = {}): InboundMessage => ({
  rawId: `raw_${randomUUID()}`,
  sizeBytes: raw.length,
  sha256: createHash('sha256').update(raw).digest(),
  sender: 'eve@else.test',
  from: { address: '192.0.2.1', heloName: 'else.test', protocol: 'ESMTP', tls: null },
  traceHeader: '',
  authentication: {
    spf: 'none',
    dkim: 'none',
    dmarc: 'none',
    arc: 'none',
    spfDomain: null,
    dkimDomains: [],
    fromDomain: null,
    dmarcPolicy: null,
  },
  headers: readMailHeaders(raw),
  receivedAt: new Date(),
  deliveries: [],
  ...given,
})

/** What is stored of a message. */
export const stored = (stack: Stack, { rawId }: Pick<ReceivedMail, 'rawId'>) =>
  stack.inSite('one.test', (tx) =>
    tx.db
      .selectFrom('mail_raw')
      .leftJoin('mail_content', 'mail_content.raw_id', 'mail_raw.raw_id')
      .innerJoin('mail_message', 'mail_message.raw_id', 'mail_raw.raw_id')
      .select([
        'parse_status as status',
        'parse_attempts as attempts',
        'bounce',
        'text',
        'html',
        'truncated',
        'attachments',
        'subject',
        'snippet',
        'has_attachments as hasAttachments',
        'thread_id as threadId',
        'message_id as messageId',
      ])
      .where('mail_raw.site_id', '=', tx.siteId)
      .where('mail_raw.raw_id', '=', rawId)
      .orderBy('mailbox_id')
      .execute(),
  )
