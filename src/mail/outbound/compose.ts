import { createHash } from 'node:crypto'

import MailComposer from 'nodemailer/lib/mail-composer'

import { envelopeAddress } from '#platform/smtp/mail-address.ts'
import { MailRefused, type RawMail } from '#platform/smtp/mail-transport.ts'

/** A message before it has its MIME form. */
export type Composition = Omit<RawMail, 'mime'>

/**
 * The message as it is sent. The same composition gives the same bytes, so that a second try is the same message. Throws
 * `MailRefused` for addresses and names that do not belong into a header.
 */
export async function compose(message: Composition): Promise<RawMail> {
  const { messageId, siteDomain, from, to, replyTo } = message
  for (const address of [from, to, replyTo ?? from, `${messageId}@${siteDomain}`]) {
    if (envelopeAddress(address) === undefined) {
      throw new MailRefused('The address is none that mail can be sent to')
    }
  }
  const mime = await new MailComposer({
    from: { name: siteDomain, address: from },
    to: { name: '', address: to },
    ...(replyTo === undefined ? {} : { replyTo: { name: '', address: replyTo } }),
    subject: oneLine(message.subject),
    text: wholeLines(message.text),
    html: wholeLines(message.html),
    encoding: 'quoted-printable',
    newline: 'win',
    messageId: `<${messageId}@${siteDomain}>`,
    date: message.createdAt,
    baseBoundary: createHash('sha256').update(messageId).digest('hex').slice(0, 32),
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
    disableFileAccess: true,
    disableUrlAccess: true,
  })
    .compile()
    .build()
  return { ...message, mime }
}

/** Makes a header's value: without line breaks and control characters. */
const oneLine = (text: string): string =>
  text
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .toWellFormed()
    .trim()

/**
 * RFC 5321 §2.3.8: CR leaves before LF only. A server that takes it for a line end by itself would see the message end where the
 * sender chooses.
 */
const wholeLines = (text: string): string => text.replaceAll(/\r\n?/g, '\n')
