import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'

import MailComposer from 'nodemailer/lib/mail-composer'

import type { Addressee, Addressees } from './addressees.ts'

/** A file as it goes into a message. */
export interface AttachedFile {
  readonly filename: string
  readonly contentType: string
  readonly sizeBytes: number
  readonly content: Readable | Buffer
}

/** A message before it has its MIME form. All of it was checked. */
export interface MessageDraft {
  /** Without its brackets. */
  readonly headerId: string
  readonly date: Date
  readonly from: string
  readonly addressees: Addressees
  readonly replyTo: Addressee | undefined
  readonly subject: string
  readonly text: string | undefined
  readonly html: string | undefined
  readonly inReplyTo: string | null
  readonly references: readonly string[]
}

/**
 * The bytes of a message (RFC 5322), in ASCII with CRLF unless an address is not. Recipients in `bcc` are not in them. Reads
 * the files while it is read.
 */
export function composeMessage(draft: MessageDraft, files: readonly AttachedFile[]): Readable {
  const { addressees, replyTo, inReplyTo, references } = draft
  return new MailComposer({
    from: { name: '', address: draft.from },
    to: named(addressees.to),
    cc: named(addressees.cc),
    ...(replyTo && { replyTo }),
    subject: draft.subject.toWellFormed(),
    ...(draft.text !== undefined && { text: wholeLines(draft.text) }),
    ...(draft.html !== undefined && { html: wholeLines(draft.html) }),
    attachments: files.map(({ filename, contentType, content }) => ({
      filename: filename.toWellFormed(),
      contentType: asFile(contentType),
      content,
      contentTransferEncoding: 'base64' as const,
      contentDisposition: 'attachment' as const,
    })),
    textEncoding: 'quoted-printable',
    newline: 'win',
    messageId: `<${draft.headerId}>`,
    ...(inReplyTo !== null && { inReplyTo: `<${inReplyTo}>` }),
    references: references.map((id) => `<${id}>`),
    date: draft.date,
    baseBoundary: createHash('sha256').update(draft.headerId).digest('hex').slice(0, 32),
    disableFileAccess: true,
    disableUrlAccess: true,
  })
    .compile()
    .createReadStream()
}

const named = (addressees: readonly Addressee[]) =>
  addressees.map(({ name, address }) => ({ name: name.toWellFormed(), address }))

/** Types whose bytes MIME would rewrite (RFC 2046 §5) go as plain bytes: a file arrives as it was. */
const asFile = (contentType: string): string =>
  /^(?:message|multipart)\//i.test(contentType) ? 'application/octet-stream' : contentType

/** RFC 5321 §2.3.8: CR leaves before LF only. */
const wholeLines = (text: string): string => text.replaceAll(/\r\n?/g, '\n').toWellFormed()
