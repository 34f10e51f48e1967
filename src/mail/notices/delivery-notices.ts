import { Readable } from 'node:stream'

import { encodedWords } from '#mail/headers/encoded-words.ts'
import { rfc5322Date } from '#mail/headers/rfc5322-date.ts'
import type { InboundDeliveries } from '#mail/inbound/inbound-deliveries.ts'
import { rawKey } from '#mail/objects/mail-keys.ts'
import type { MailParsing } from '#mail/parsing/mail-parsing.ts'
import { DELAYED_AFTER_MS } from '#mail/sending/model.ts'
import type { OutgoingMail } from '#mail/sending/outgoing.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { QueueJobs } from '#platform/queue/queue.ts'
import type { PlatformServices } from '#platform/services.ts'
import { SmtpReply } from '#platform/smtp-server/smtp-reply.ts'
import type { Site } from '#sites/site.ts'

import { type TroubledMessage, TRIED_FOR_MS, type TroubledRecipient } from './model.ts'
import { markNoticed, selectTroubled } from './queries.ts'

/** How many times a run repeats for concurrent runs on its message before the queue takes over again. */
const MAX_ROUNDS = 5

const MAX_HEADER_BYTES = 32 * 1024
const END_OF_HEADER = Buffer.from('\r\n\r\n')
const LAST_LINE_END = Buffer.from('\r\n')

const MAX_DIAGNOSTIC = 300
const STATUS = /\b[45]\.\d{1,3}\.\d{1,3}\b/

interface NoticeOptions {
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

/**
 * The handler of the queue `delivery-notice`: tells who sent a message, in the mailbox that sent it, which recipients it did not
 * reach, or not yet. Each is reported once, with all others of that moment; no notice leaves the site.
 */
export class DeliveryNotices {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'database' | 'objects' | 'clock' | 'ids' | 'logger'> & {
      /** The server's own name. */
      readonly hostname: string
      readonly inboundDeliveries: Pick<InboundDeliveries, 'file'>
      readonly mailParsing: Pick<MailParsing, 'queueUp'>
      readonly outgoing: Pick<OutgoingMail, 'store' | 'remove'>
      /** Rejects with `SiteNotFound` when the site is gone. */
      readonly siteOf: (siteId: string) => Promise<Site>
    },
  ) {
    this.#deps = deps
  }

  /** Runs of one message may meet: each reports what no other has reported. */
  async run({ siteId, messageId }: QueueJobs['delivery-notice']): Promise<void> {
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const troubled = await this.#troubled(siteId, messageId)
      if (!troubled || (await this.#tell(siteId, messageId, troubled))) return
    }
    throw new Error(
      `The recipients of ${messageId} keep changing while its sender is notified of them`,
    )
  }

  #troubled(siteId: string, messageId: string): Promise<TroubledMessage | undefined> {
    const { database, clock } = this.#deps
    const lateBefore = new Date(clock.now().getTime() - DELAYED_AFTER_MS)
    return database.withSite(siteId, (tx) => selectTroubled(tx, messageId, lateBefore))
  }

  /** False when some of it was reported, or is not true any more: nothing is reported then. */
  async #tell(siteId: string, messageId: string, troubled: TroubledMessage): Promise<boolean> {
    const { database, outgoing, clock, ids, siteOf, hostname } = this.#deps
    const date = clock.now()
    const { domain } = await siteOf(siteId)
    const noticeId = ids.named('msg')
    const headerId = `${noticeId}@${domain}`
    const originalHeader = await this.#headerOf(siteId, troubled.rawId)
    const options = { headerId, date, domain, hostname, originalHeader }
    const bytes = composeNotice(troubled, options)
    const stored = await outgoing.store(siteId, Readable.from([bytes]), { protocol: 'LOCAL' })
    const told = await database.withSite(siteId, async (tx) => {
      if (!(await markNoticed(tx, messageId, troubled.recipients))) return 'changed'
      return (await this.#file(tx, troubled, stored, noticeId)) ? 'filed' : 'not filed'
    })
    if (told !== 'filed') await outgoing.remove(siteId, stored.rawId)
    return told !== 'changed'
  }

  /** A mailbox that takes no more mail gets no notice: the message itself shows it. */
  async #file(
    tx: SiteTx,
    { mailboxId, mailbox }: TroubledMessage,
    stored: Awaited<ReturnType<OutgoingMail['store']>>,
    noticeId: string,
  ): Promise<boolean> {
    const { inboundDeliveries, mailParsing, logger } = this.#deps
    const { siteId } = tx
    const arrival = { ...stored, sender: '', deliveries: [{ mailboxId, recipient: mailbox }] }
    try {
      await inboundDeliveries.file(tx, arrival, noticeId)
    } catch (error) {
      if (!(error instanceof SmtpReply)) throw error
      logger.info({ siteId, mailboxId, reason: error.message }, 'delivery notice not filed')
      return false
    }
    await mailParsing.queueUp(tx)
    return true
  }

  /** As much of it as fits, in whole lines. */
  async #headerOf(siteId: string, rawId: string): Promise<Buffer> {
    const range = { start: 0, end: MAX_HEADER_BYTES - 1 }
    const object = await this.#deps.objects.get(rawKey(siteId, rawId), range)
    if (!object) return Buffer.alloc(0)
    const bytes = Buffer.from(await new Response(object.body).arrayBuffer())
    const end = bytes.indexOf(END_OF_HEADER)
    const last = end < 0 ? bytes.lastIndexOf(LAST_LINE_END) : end
    return bytes.subarray(0, Math.max(last, 0) + LAST_LINE_END.length)
  }
}

/** A delivery status notification (RFC 3464) from the site to the mailbox that sent a message. */
function composeNotice(message: TroubledMessage, options: NoticeOptions): Buffer {
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
