import { createHash } from 'node:crypto'

import MailComposer from 'nodemailer/lib/mail-composer'

import type { RawMail } from '#platform/smtp/mail-transport.ts'

/** Everything of a message but its MIME form. */
type Composition = Omit<RawMail, 'mime'>

/** The message as it is sent. The same composition gives the same bytes, so that a second try is the same message. */
export async function compose(message: Composition): Promise<RawMail> {
  const mime = await new MailComposer({
    from: { name: message.siteDomain, address: message.from },
    to: { name: '', address: message.to },
    subject: oneLine(message.subject),
    text: message.text,
    html: message.html,
    encoding: 'quoted-printable',
    newline: 'win',
    messageId: `<${message.messageId}@${message.siteDomain}>`,
    date: message.createdAt,
    baseBoundary: createHash('sha256').update(message.messageId).digest('hex').slice(0, 32),
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
    disableFileAccess: true,
    disableUrlAccess: true,
  })
    .compile()
    .build()
  return { ...message, mime }
}

/** A header's value: without what could end it. */
const oneLine = (text: string): string =>
  text
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .toWellFormed()
    .trim()
