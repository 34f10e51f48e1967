import { encodedWords } from '#mail/headers/encoded-words.ts'
import { rfc5322Date } from '#mail/headers/rfc5322-date.ts'

import { TRIED_FOR_MS, type TroubledMessage, type TroubledRecipient } from './model.ts'

const MAX_DIAGNOSTIC = 300
const STATUS = /\b[45]\.\d{1,3}\.\d{1,3}\b/

export interface NoticeOptions {
  /** Without brackets. */
  readonly headerId: string
  readonly date: Date
  /** Of the site. */
  readonly domain: string
  /** The server's own name. */
  readonly hostname: string
  /** Of the message that was sent: in full, or its beginning. */
  readonly originalHeader: Buffer
}

/** A delivery status notification (RFC 3464) from the site to the mailbox that sent a message. */
export function composeNotice(message: TroubledMessage, options: NoticeOptions): Buffer {
  const { headerId, date, domain, hostname, originalHeader } = options
  const { mailbox, recipients, sentAt } = message
  const boundary = `notice-${headerId.split('@', 1)[0]}`
  const failed = recipients.filter(({ action }) => action === 'failed')
  const title = failed.length > 0 ? 'Not delivered' : 'Not delivered yet'
  const lines = [
    `From: Mail Delivery System <mailer-daemon@${domain}>`,
    `To: <${mailbox}>`,
    `Subject: ${encodedWords(`${title}: ${message.subject}`)}`,
    `Date: ${rfc5322Date(date)}`,
    `Message-ID: <${headerId}>`,
    ...(message.headerId === ''
      ? []
      : [`In-Reply-To: <${message.headerId}>`, `References: <${message.headerId}>`]),
    'Auto-Submitted: auto-replied',
    'MIME-Version: 1.0',
    `Content-Type: multipart/report; report-type=delivery-status;\r\n boundary="${boundary}"`,
    '',
    `--${boundary}`,
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: 8bit',
    '',
    ...wordsFor(message),
    '',
    `--${boundary}`,
    'Content-Type: message/delivery-status',
    '',
    `Reporting-MTA: dns; ${hostname}`,
    `Arrival-Date: ${rfc5322Date(sentAt)}`,
    ...recipients.flatMap((recipient) => ['', ...statusOf(recipient, sentAt)]),
    '',
    `--${boundary}`,
    'Content-Type: text/rfc822-headers; charset=utf-8',
    'Content-Transfer-Encoding: 8bit',
    '',
    '',
  ]
  const end = `\r\n--${boundary}--\r\n`
  return Buffer.concat([Buffer.from(lines.join('\r\n')), originalHeader, Buffer.from(end)])
}

function wordsFor({ recipients, sentAt }: TroubledMessage): string[] {
  const told = (action: TroubledRecipient['action'], head: string, tail: string): string[] => {
    const those = recipients.filter((recipient) => recipient.action === action)
    if (those.length === 0) return []
    const list = those.flatMap(({ recipient, reply }) => [
      `  ${recipient}`,
      `    ${oneLine(reply)}`,
    ])
    return [head, '', ...list, '', tail, '']
  }
  const until = rfc5322Date(new Date(sentAt.getTime() + TRIED_FOR_MS))
  return [
    ...told('failed', 'Your message did not reach:', 'It is not tried again.'),
    ...told(
      'delayed',
      'Your message has not reached yet:',
      `It is tried until about ${until}. You need not send it again.`,
    ),
  ]
}

function statusOf({ recipient, action, reply }: TroubledRecipient, sentAt: Date): string[] {
  const [status = action === 'failed' ? '5.0.0' : '4.0.0'] = STATUS.exec(reply) ?? []
  return [
    `Final-Recipient: rfc822; ${recipient}`,
    `Action: ${action}`,
    `Status: ${status}`,
    `Diagnostic-Code: smtp; ${oneLine(reply)}`,
    ...(action === 'delayed'
      ? [`Will-Retry-Until: ${rfc5322Date(new Date(sentAt.getTime() + TRIED_FOR_MS))}`]
      : []),
  ]
}

/** Gateways say what they like. */
const oneLine = (reply: string): string =>
  reply
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
    .slice(0, MAX_DIAGNOSTIC)
    .toWellFormed() || 'no reason given'
