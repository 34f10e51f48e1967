import { type Static, Type } from '@sinclair/typebox'

import { AppError, invalid } from '#base/app-error.ts'
import { ClosedObject } from '#base/closed-object.ts'

const MIB = 1024 * 1024

export const MAX_ATTACHMENTS = 10
export const MAX_ATTACHMENT_BYTES = 10 * MIB
const MAX_ATTACHMENTS_BYTES = 15 * MIB
export const MAX_MESSAGE_BYTES = 25 * MIB
export const MAX_RECIPIENTS = 100
/** After so long without success a sender is notified that a message is late. */
export const DELAYED_AFTER_MS = 4 * 3_600_000
const MAX_SUBJECT = 998
const MAX_TEXT = 2 * MIB

/** Names and addresses are looked at one by one; this is what is read of them at all. */
const Addresses = Type.Array(Type.String({ maxLength: 512 }), { maxItems: MAX_RECIPIENTS })
const BodyText = Type.String({
  maxLength: MAX_TEXT,
  pattern: '^[^\\u0000]*$',
  fault: `must be a text of at most ${MAX_TEXT} characters, none of them NUL`,
})
const Subject = Type.String({
  maxLength: MAX_SUBJECT,
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$',
  fault: `must be one line of at most ${MAX_SUBJECT} characters, without control characters`,
})

/** What JSON can carry; longer files are staged. */
const InlineAttachment = ClosedObject({
  filename: Type.String({ maxLength: 255 }),
  contentType: Type.String({ maxLength: 127 }),
  contentBase64: Type.String(),
})
export type InlineAttachment = Static<typeof InlineAttachment>

/** More than may be sent are counted before they are refused. */
const MAX_NAMED = 1000
const CONTENT = {
  cc: Type.Optional(Addresses),
  bcc: Type.Optional(Addresses),
  html: Type.Optional(BodyText),
  replyTo: Type.Optional(Type.String({ maxLength: 512 })),
  attachmentRefs: Type.Optional(
    Type.Array(Type.String({ maxLength: 64 }), { maxItems: MAX_NAMED }),
  ),
  attachments: Type.Optional(Type.Array(InlineAttachment, { maxItems: MAX_NAMED })),
}

export const SendRequest = ClosedObject({
  mailbox: Type.String({ maxLength: 512 }),
  to: Addresses,
  subject: Subject,
  /** May be left out beside `html`, `raw` or `rawRef`. */
  body: Type.Optional(BodyText),
  ...CONTENT,
  /** In base64: a message that was composed elsewhere, instead of its parts. `to`, `cc` and `bcc` are its recipients. */
  raw: Type.Optional(Type.String()),
  /** The same, staged as `message/rfc822`. */
  rawRef: Type.Optional(Type.String({ maxLength: 64 })),
})
export type SendRequest = Static<typeof SendRequest>

/** What is left out comes from the message that is answered. */
export const ReplyRequest = ClosedObject({
  /** May be left out beside `html`. */
  body: Type.Optional(BodyText),
  subject: Type.Optional(Subject),
  /** True also writes to the other recipients of the message. */
  replyAll: Type.Optional(Type.Boolean()),
  ...CONTENT,
})
export type ReplyRequest = Static<typeof ReplyRequest>

export const SentMessage = Type.Object(
  { id: Type.String(), threadId: Type.String() },
  { title: 'SentMessage' },
)
export type SentMessage = Static<typeof SentMessage>

export const StageRequest = ClosedObject({
  mailbox: Type.String({ maxLength: 512 }),
  filename: Type.String({ maxLength: 255 }),
  contentType: Type.String({ maxLength: 127 }),
  size: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
})
export type StageRequest = Static<typeof StageRequest>

export const StagedAttachment = Type.Object(
  {
    attachmentRef: Type.String(),
    mailbox: Type.String(),
    filename: Type.String(),
    contentType: Type.String(),
    size: Type.Integer(),
    upload: Type.Object({
      method: Type.Literal('PUT'),
      url: Type.String(),
      headers: Type.Record(Type.String(), Type.String()),
      expiresAt: Type.String(),
    }),
    /** Until then the reference can be used. */
    expiresAt: Type.String(),
  },
  { title: 'StagedAttachment' },
)
export type StagedAttachment = Static<typeof StagedAttachment>

/** What becomes of a message on its way to one recipient. */
export type RecipientStatus = 'queued' | 'sent' | 'captured' | 'failed' | 'bounced' | 'suppressed'

export const Suppression = Type.Object(
  {
    address: Type.String(),
    reason: Type.Literal('BOUNCE'),
    detail: Type.String(),
    createdAt: Type.String(),
  },
  { title: 'Suppression' },
)
export type Suppression = Static<typeof Suppression>

export const tooManyAttachments = (count: number): AppError =>
  new AppError(
    'TooManyAttachments',
    `A message has at most ${MAX_ATTACHMENTS} attachments, not ${count}`,
  )

export const attachmentTooLarge = (filename: string, sizeBytes: number): AppError =>
  new AppError(
    'AttachmentTooLarge',
    `"${filename}" has ${sizeBytes} bytes: an attachment may have at most ${MAX_ATTACHMENT_BYTES}`,
    { fields: { limitBytes: MAX_ATTACHMENT_BYTES, sizeBytes } },
  )

export const messageTooLarge = (sizeBytes?: number): AppError =>
  new AppError(
    'MessageTooLarge',
    sizeBytes === undefined
      ? `The message is larger than ${MAX_MESSAGE_BYTES} bytes as it is sent`
      : `The message has ${sizeBytes} bytes: at most ${MAX_MESSAGE_BYTES} are sent`,
    {
      fields: {
        limitBytes: MAX_MESSAGE_BYTES,
        ...(sizeBytes !== undefined && { sizeBytes }),
      },
    },
  )

/** What JSON carries of bytes. Throws a `ValidationError` for anything else. */
export function parseBase64(field: string, text: string): Buffer {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.toString('base64') === text) return bytes
  throw invalid(field, 'must be base64 with its padding and nothing else')
}

/** Throws for what is more, or together larger, than a message takes. */
export function checkAttachmentBounds(
  attachments: readonly { readonly filename: string; readonly sizeBytes: number }[],
): void {
  if (attachments.length > MAX_ATTACHMENTS) throw tooManyAttachments(attachments.length)
  const large = attachments.find(({ sizeBytes }) => sizeBytes > MAX_ATTACHMENT_BYTES)
  if (large) throw attachmentTooLarge(large.filename, large.sizeBytes)
  const total = attachments.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  if (total <= MAX_ATTACHMENTS_BYTES) return
  throw new AppError(
    'AttachmentsTooLarge',
    `The attachments have ${total} bytes together: at most ${MAX_ATTACHMENTS_BYTES} are taken`,
    { fields: { limitBytes: MAX_ATTACHMENTS_BYTES, sizeBytes: total } },
  )
}
