import { Buffer } from 'node:buffer'

import PostalMime, { type Attachment, type Email } from 'postal-mime'

import { type MailBody, bodyOf } from './body.ts'
import { bounceOf } from './bounces.ts'
import { boundedText } from './bounded-text.ts'
import { safeFilename } from './filenames.ts'
import type { MailOutline, MailPart } from './protocol.ts'

/** More are not shown: the message itself has them all. */
const MAX_ATTACHMENTS = 1000
const MAX_DEPTH = 50
const MAX_HEADER_BYTES = 1024 * 1024
const TYPE = /^[a-z0-9!#$&^_.+-]{1,127}\/[a-z0-9!#$&^_.+-]{1,127}$/
const MAX_CONTENT_ID = 998

export interface MailPieces {
  readonly outline: MailOutline
  /** Text, HTML and the attachments, in the order of the outline. */
  readonly contents: readonly Uint8Array[]
}

interface Part {
  readonly outline: MailPart
  readonly content: Uint8Array
}

/** Rejects when the message is nested too deep or its headers are too long: nobody gets more of it than its raw bytes. */
export async function parseMail(whole: Buffer): Promise<MailPieces> {
  const { raw, isCut } = boundedText(whole)
  const email = await PostalMime.parse(raw, {
    forceRfc822Attachments: true,
    maxNestingDepth: MAX_DEPTH,
    maxHeadersSize: MAX_HEADER_BYTES,
  })
  const body = bodyOf(email.text, email.html)
  // What is not parsed to its end is in no attachment, but in the raw message.
  const parts = [...email.attachments, ...(isCut ? [] : cutBodies(email, body))]
    .slice(0, MAX_ATTACHMENTS)
    .map((attachment, at) => partOf(attachment, at + 1))
  return {
    outline: {
      textBytes: body.text.length,
      htmlBytes: body.html?.length ?? null,
      truncated:
        isCut || body.isTextCut || body.isHtmlCut || email.attachments.length > MAX_ATTACHMENTS,
      snippet: body.snippet,
      attachments: parts.map(({ outline }) => outline),
      bounce: bounceOf(email),
    },
    contents: [body.text, body.html ?? new Uint8Array(), ...parts.map(({ content }) => content)],
  }
}

/** What was cut is offered whole; HTML never without being sanitised, for it comes as a download. */
function cutBodies({ text = '', html = '' }: Email, body: MailBody): Attachment[] {
  const whole = (filename: string, mimeType: string, content: string): Attachment => ({
    filename,
    mimeType,
    disposition: 'attachment',
    content: Buffer.from(content),
  })
  return [
    ...(body.isTextCut && text !== '' ? [whole('message.txt', 'text/plain', text)] : []),
    ...(body.isHtmlCut ? [whole('message.html', 'text/html', html)] : []),
  ]
}

function partOf(attachment: Attachment, place: number): Part {
  const content = bytesOf(attachment.content)
  const declared = attachment.mimeType.toLowerCase()
  const contentType = TYPE.test(declared) ? declared : 'application/octet-stream'
  const contentId = contentIdOf(attachment.contentId)
  const inline =
    contentId !== null &&
    attachment.disposition !== 'attachment' &&
    contentType.startsWith('image/')
  return {
    outline: {
      filename: safeFilename(attachment.filename, contentType, place),
      contentType,
      sizeBytes: content.length,
      contentId,
      inline: inline || attachment.related === true,
    },
    content,
  }
}

function bytesOf(content: Attachment['content']): Uint8Array {
  if (typeof content === 'string') return Buffer.from(content)
  return content instanceof Uint8Array ? content : new Uint8Array(content)
}

function contentIdOf(value: string | undefined): string | null {
  const id = (value ?? '').replaceAll(/[<>\s\p{Cc}]+/gu, '').toWellFormed()
  return id === '' || id.length > MAX_CONTENT_ID ? null : id
}
