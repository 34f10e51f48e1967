import { createHmac } from 'node:crypto'

import { encodedWords } from '#mail/headers/encoded-words.ts'
import { readHeaderFields } from '#mail/headers/header-fields.ts'
import { readMailHeaders } from '#mail/headers/mail-headers.ts'
import { MailRefused } from '#platform/smtp/mail-transport.ts'

/** Names each mailbox that a message was forwarded by, so that only who made it knows which. */
const MARK_FIELD = 'X-Forwarded-By-Mailbox'
/** More than any way that mail goes, and fewer than what servers refuse. */
const MAX_HOPS = 40
const END_OF_HEADER = Buffer.from('\r\n\r\n')
const ENVELOPE_TRACE = /^Return-Path:.*\r\n/i

/** The mailbox that forwards a message. */
interface ForwardedBy {
  /** The mailbox's address. */
  readonly mailbox: string
  /** Return-Path and Received, as they were written when the message came. */
  readonly traceHeader: string
  /** Signs the mark. */
  readonly key: Uint8Array
}

/**
 * The message as it goes on: what it had stays as it was, and its signatures good; the trace of its way comes before it.
 * Throws `MailRefused` for a message that this mailbox has forwarded before, or that comes from too far.
 */
export function forwardedMessage(
  raw: Uint8Array,
  { mailbox, traceHeader, key }: ForwardedBy,
): Uint8Array {
  const fields = readHeaderFields(raw)
  const mark = createHmac('sha256', key).update(mailbox).digest('base64url').slice(0, 22)
  if (isMarked(fields, mark)) {
    throw new MailRefused('A loop: this mailbox has forwarded the message before')
  }
  if (fields.count('received') >= MAX_HOPS) {
    throw new MailRefused(`A loop: the message went through ${MAX_HOPS} servers`)
  }
  const trace = traceHeader.replace(ENVELOPE_TRACE, '')
  return Buffer.concat([
    Buffer.from(`${MARK_FIELD}: ${mark}\r\nDelivered-To: ${mailbox}\r\n${trace}`),
    raw,
  ])
}

/**
 * The same message in the mailbox's own name, for gateways and targets that refuse it in another: answers go to the author
 * still, whose own signatures are no longer good.
 */
export function inOwnName(message: Uint8Array, mailbox: string): Uint8Array {
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength)
  const found = bytes.indexOf(END_OF_HEADER)
  const end = found < 0 ? bytes.length : found
  const fields = bytes
    .subarray(0, end)
    .toString('latin1')
    .split(/\r\n(?![ \t])/)
  const isNamed = (field: string, name: string): boolean =>
    field.slice(0, name.length + 1).toLowerCase() === `${name}:`
  const authors = fields.filter((field) => isNamed(field, 'from'))
  const [author = 'From:'] = authors
  const value = author.slice(author.indexOf(':') + 1)
  const others = fields.filter((field) => !isNamed(field, 'from') && !isNamed(field, 'sender'))
  const hasReplyTo = others.some((field) => isNamed(field, 'reply-to'))
  const added = [
    `From: ${encodedWords(`${shownAuthor(message)} via ${mailbox}`)} <${mailbox}>`,
    ...(hasReplyTo || value.trim() === '' ? [] : [`Reply-To:${value}`]),
    ...authors.map((field) => `X-Original-${field}`),
  ]
  const head = Buffer.from([...others, ...added].join('\r\n'), 'latin1')
  return Buffer.concat([head, bytes.subarray(end)])
}

const isMarked = (fields: ReturnType<typeof readHeaderFields>, mark: string): boolean =>
  fields.texts(MARK_FIELD.toLowerCase()).some((value) => value.trim() === mark)

/** The name, or else the address. */
function shownAuthor(message: Uint8Array): string {
  const { from, fromAddress } = readMailHeaders(message)
  const name = from.endsWith('>') ? from.slice(0, from.lastIndexOf('<')).trim() : from
  return name.replaceAll(/^"|"$|\\/g, '') || fromAddress || 'Unknown sender'
}
