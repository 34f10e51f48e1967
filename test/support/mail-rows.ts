import { createHash, randomUUID } from 'node:crypto'

import { partKey, rawKey } from '#mail/objects/mail-keys.ts'
import { PARSE_VERSION } from '#mail/parsing/parse-version.ts'
import { indexMessages } from '#mail/search/index-messages.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

import type { Stack } from './stack.ts'

type Folder = 'INBOX' | 'SENT' | 'ARCHIVE'

export interface MailRow {
  /** The address of a mailbox that there is. */
  readonly mailbox: string
  readonly subject?: string
  readonly text?: string
  readonly from?: string
  readonly folder?: Folder
  readonly seen?: boolean
  readonly receivedAt?: Date
  readonly threadId?: string
  readonly raw?: string
  /** In the mailboxes of several rows at once. */
  readonly rawId?: string
  readonly html?: string
  readonly attachments?: readonly AttachmentRow[]
  readonly parseStatus?: 'pending' | 'parsed' | 'failed'
}

interface AttachmentRow {
  readonly attachmentId: string
  readonly filename: string
  readonly contentType: string
  readonly contentId?: string
  readonly inline?: boolean
  readonly bytes: string
}

export interface StoredMail {
  readonly messageId: string
  readonly rawId: string
  readonly raw: string
}

const DEFAULTS = {
  subject: '',
  text: '',
  from: 'Eve <eve@else.test>',
  folder: 'INBOX',
  seen: false,
  html: null,
  attachments: [],
  parseStatus: 'parsed',
} as const

/** A message as it is stored once it was received and parsed: rows, objects and what it adds to the counts. */
export async function storeMail(stack: Stack, row: MailRow): Promise<StoredMail> {
  const [localPart = '', host = ''] = row.mailbox.split('@')
  const messageId = `msg_${randomUUID()}`
  const named = {
    messageId,
    rawId: `raw_${randomUUID()}`,
    threadId: `thr_${messageId}`,
    receivedAt: new Date(),
    raw: `Subject: ${row.subject ?? ''}\r\n\r\n${row.text ?? ''}\r\n`,
  }
  const whole = { ...DEFAULTS, ...named, ...row, localPart, host }
  const { siteId } = await stack.context.sites.find(host)
  await putObjects(stack, siteId, whole)
  await stack.inSite(host, async (tx) => {
    const mailboxId = await count(tx, whole)
    await insertRaw(tx, whole)
    await insertMessage(tx, mailboxId, whole)
    const { receivedAt } = whole
    const words = {
      subject: whole.subject,
      from: [whole.from],
      to: [whole.mailbox],
      filenames: whole.attachments.map(({ filename }) => filename),
      hasAttachments: whole.attachments.some(({ inline }) => inline !== true),
      text: whole.text,
    }
    await indexMessages(tx, [{ messageId, mailboxId, receivedAt, words }])
  })
  return whole
}

type WholeRow = Required<Omit<MailRow, 'html'>> &
  StoredMail & { readonly html: string | null; readonly localPart: string }

async function putObjects(stack: Stack, siteId: string, row: WholeRow): Promise<void> {
  const { objects } = stack.context
  await objects.put(rawKey(siteId, row.rawId), Buffer.from(row.raw), {
    contentType: 'message/rfc822',
  })
  for (const { attachmentId, bytes, contentType } of row.attachments) {
    const key = partKey(siteId, row.rawId, attachmentId)
    await objects.put(key, Buffer.from(bytes), { contentType })
  }
}

const sizeOf = ({ raw }: WholeRow): string => String(Buffer.byteLength(raw))

async function count(tx: SiteTx, row: WholeRow): Promise<string> {
  const { mailboxId } = await tx.db
    .updateTable('mailbox')
    .set((eb) => ({
      used_bytes: eb('used_bytes', '+', sizeOf(row)),
      used_messages: eb('used_messages', '+', '1'),
    }))
    .where('site_id', '=', tx.siteId)
    .where('local_part', '=', row.localPart)
    .returning('mailbox_id as mailboxId')
    .executeTakeFirstOrThrow()
  await tx.db
    .updateTable('mail_usage')
    .set((eb) => ({
      used_bytes: eb('used_bytes', '+', sizeOf(row)),
      used_messages: eb('used_messages', '+', '1'),
    }))
    .where('site_id', '=', tx.siteId)
    .execute()
  return mailboxId
}

async function insertRaw(tx: SiteTx, row: WholeRow): Promise<void> {
  const named = { site_id: tx.siteId, raw_id: row.rawId }
  const inserted = await tx.db
    .insertInto('mail_raw')
    .values({
      ...named,
      size_bytes: sizeOf(row),
      sha256: createHash('sha256').update(row.raw).digest(),
      envelope_from: 'eve@else.test',
      client: '{}',
      trace_header: '',
      authentication: JSON.stringify({ spf: 'pass', dkim: 'none', dmarc: 'none' }),
      parse_status: row.parseStatus,
      parse_version: row.parseStatus === 'pending' ? 0 : PARSE_VERSION,
      bounce: null,
      received_at: row.receivedAt,
    })
    .onConflict((on) => on.doNothing())
    .executeTakeFirst()
  if (row.parseStatus !== 'parsed' || inserted.numInsertedOrUpdatedRows === 0n) return
  const attachments = row.attachments.map(({ bytes, inline = false, ...rest }) => ({
    ...rest,
    inline,
    sizeBytes: Buffer.byteLength(bytes),
  }))
  const { text, html } = row
  await tx.db
    .insertInto('mail_content')
    .values({ ...named, text, html, attachments: JSON.stringify(attachments) })
    .execute()
}

async function insertMessage(tx: SiteTx, mailboxId: string, row: WholeRow): Promise<void> {
  await tx.db
    .insertInto('mail_message')
    .values({
      site_id: tx.siteId,
      message_id: row.messageId,
      mailbox_id: mailboxId,
      raw_id: row.rawId,
      size_bytes: sizeOf(row),
      recipient: row.mailbox,
      folder: row.folder,
      origin_folder: null,
      trashed_at: null,
      seen: row.seen,
      received_at: row.receivedAt,
      thread_id: row.threadId,
      subject: row.subject,
      from_address: row.from,
      recipients: JSON.stringify({ to: [row.mailbox], cc: [], replyTo: [] }),
      header_id: `${row.messageId}@else.test`,
      in_reply_to: null,
      snippet: row.text.slice(0, 100),
      has_attachments: row.attachments.length > 0,
    })
    .execute()
}
