import { Type } from '@sinclair/typebox'

import { invalid } from '#base/app-error.ts'
import { ClosedObject } from '#base/closed-object.ts'
import { SendRequest, type SentMessage } from '#mail/sending/model.ts'
import { envelopeAddress } from '#platform/smtp/mail-address.ts'
import { parseShape } from '#runtime/shape.ts'

const MAX_RECIPIENTS = 50
const MAX_BODY_BYTES = 1024 * 1024

/** A message that a site's code sends from its site's own address, to each recipient by itself. */
export interface SiteMessage {
  /** Envelope addresses, none twice. */
  readonly to: readonly string[]
  readonly subject: string
  /** Empty when there is only html. */
  readonly text: string
  /** Empty when there is only text. */
  readonly html: string
  readonly replyTo?: string
}

/** A message that a site's code sends from one of the site's mailboxes, to all of its recipients. */
export interface MessageFromMailbox {
  readonly request: SendRequest
  /** Attachments that came in parts before, and the parts of a whole message. */
  readonly partedFiles: readonly {
    readonly filename: string
    readonly contentType: string
    readonly partRefs: readonly string[]
  }[]
  readonly rawRefs: readonly string[]
  /** Names the message, so that a call that is repeated sends it once. */
  readonly idempotencyKey: string | undefined
}

/** Mail's side of it. What it has acknowledged is sent, or seen to fail, whatever happens to this process. */
export interface SiteMail {
  /** The ids of the messages, one for each recipient, in their order. */
  send(siteId: string, message: SiteMessage): Promise<readonly string[]>
  /** Keeps a part of a large file until its message follows. Returns its reference. */
  stagePart(
    siteId: string,
    part: { readonly mailbox: string; readonly bytes: Uint8Array },
  ): Promise<string>
  /** With the right to read every mailbox of the site. */
  sendFromMailbox(siteId: string, message: MessageFromMailbox): Promise<SentMessage>
}

const Address = Type.String({ maxLength: 320 })

const Email = ClosedObject({
  to: Type.Array(Address, {
    minItems: 1,
    maxItems: MAX_RECIPIENTS,
    fault: `must be an address, or a list of 1 to ${MAX_RECIPIENTS}`,
  }),
  subject: Type.String({
    pattern: '^[^\\r\\n]{1,998}$',
    fault: 'must be one line of 1 to 998 characters',
  }),
  text: Type.Optional(Type.String()),
  html: Type.Optional(Type.String()),
  replyTo: Type.Optional(Address),
})

const {
  body: Text,
  attachmentRefs: _staged,
  attachments: _inline,
  raw: _raw,
  rawRef: _whole,
  ...CONTENT
} = SendRequest.properties
/** What the guest has staged in parts: their references, in order. */
const Parts = ClosedObject({ parts: Type.Array(Type.String({ maxLength: 64 }), { maxItems: 64 }) })
const File = ClosedObject({
  filename: Type.String({ maxLength: 255 }),
  contentType: Type.String({ maxLength: 127 }),
  contentBase64: Type.Union([Type.String(), Parts], { fault: 'must be text in base64' }),
})
const MailboxEmail = ClosedObject({
  ...CONTENT,
  attachments: Type.Optional(Type.Array(File, { maxItems: 1000 })),
  raw: Type.Optional(Type.Union([Type.String(), Parts], { fault: 'must be text in base64' })),
  text: Text,
  idempotencyKey: Type.Optional(
    Type.String({ minLength: 1, maxLength: 255, fault: 'must have 1 to 255 characters' }),
  ),
})
/** What only mailboxes send. */
const OF_MAILBOXES = ['attachments', 'raw', 'cc', 'bcc', 'idempotencyKey']

/** Whether site code named the mailbox that sends. */
export const namesMailbox = (input: unknown): boolean =>
  typeof input === 'object' && input !== null && 'mailbox' in input

/** Reads what site code gives `ctx.sendEmail` with a `mailbox`. The mailbox's own rules come on top. */
export function readMailboxMessage(input: unknown): MessageFromMailbox {
  const {
    text,
    idempotencyKey,
    attachments = [],
    raw,
    ...rest
  } = parseShape(MailboxEmail, listed(input))
  const inline = attachments.flatMap(({ contentBase64, ...file }) =>
    typeof contentBase64 === 'string' ? [{ ...file, contentBase64 }] : [],
  )
  const partedFiles = attachments.flatMap(({ contentBase64, ...file }) =>
    typeof contentBase64 === 'string' ? [] : [{ ...file, partRefs: contentBase64.parts }],
  )
  const request = {
    ...rest,
    ...(inline.length > 0 && { attachments: inline }),
    ...(typeof raw === 'string' && { raw }),
    ...(text !== undefined && { body: text }),
  }
  const rawRefs = typeof raw === 'object' ? raw.parts : []
  return { request, partedFiles, rawRefs, idempotencyKey }
}

/** Reads what site code gives `ctx.sendEmail`. A `ValidationError` names the field that is wrong. */
export function readMessage(input: unknown): SiteMessage {
  const missed = OF_MAILBOXES.find((field) => Object.hasOwn(Object(input), field))
  if (missed !== undefined) throw invalid(missed, 'name the "mailbox" that sends such a message')
  const { to, subject, text = '', html = '', replyTo } = parseShape(Email, listed(input))
  if (text === '' && html === '') throw invalid('text', 'give "text", "html" or both')
  for (const [field, body] of Object.entries({ text, html })) {
    if (Buffer.byteLength(body) > MAX_BODY_BYTES) {
      throw invalid(field, `is longer than ${MAX_BODY_BYTES} bytes`)
    }
  }
  const addresses = to.map((address, at) => readAddress(`to[${at}]`, address))
  return {
    to: [...new Set(addresses)],
    subject,
    text,
    html,
    ...(replyTo === undefined ? {} : { replyTo: readAddress('replyTo', replyTo) }),
  }
}

/** One address stands for a list of one. */
function listed(input: unknown): unknown {
  if (typeof input !== 'object' || input === null || !('to' in input)) return input
  return typeof input.to === 'string' ? { ...input, to: [input.to] } : input
}

function readAddress(field: string, address: string): string {
  const read = envelopeAddress(address)
  if (read === undefined) throw invalid(field, 'is no address that mail can be sent to')
  return read
}
