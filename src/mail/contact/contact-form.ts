import { AppError } from '#base/app-error.ts'
import { ipPrefix } from '#base/ip-prefix.ts'
import { escapeHtml } from '#identity/auth-emails/layout.ts'
import type { OutboundMessages } from '#mail/outbound/outbound-messages.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import { RateLimiter } from '#platform/rate-limits/rate-limiter.ts'
import { RATE_LIMITS } from '#platform/rate-limits/rate-limits.ts'
import type { Counters } from '#platform/redis/counters.ts'
import type { PlatformServices } from '#platform/services.ts'
import { IdempotentAnswers, type RepeatableRequest } from '#sites/idempotency/idempotent-answers.ts'
import type { Site } from '#sites/site.ts'

import {
  type ContactAnswer,
  type ContactRequest,
  type ContactSubmission,
  parseSubmission,
} from './model.ts'
import { selectContactRecipients } from './queries.ts'

const FONT = "font-family:system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"

/** Who sends a form, as far as one can know. */
interface ContactSender {
  /** Of the network connection. */
  readonly address: string
  readonly repeatable: RepeatableRequest | undefined
}

interface ContactMail {
  readonly subject: string
  readonly text: string
  readonly html: string
}

/** Where a submission came from, and the id that its sender was given. */
interface ContactSource {
  readonly siteDomain: string
  readonly messageId: string
}

/** What strangers write to the people of a site. */
export class ContactForm {
  readonly #deps
  readonly #rateLimiter: RateLimiter
  readonly #answers: IdempotentAnswers

  constructor(
    deps: Pick<PlatformServices, 'database' | 'clock' | 'ids'> & {
      readonly counters: Counters
      readonly outboundMessages: Pick<OutboundMessages, 'accept'>
    },
  ) {
    this.#deps = deps
    this.#rateLimiter = new RateLimiter(deps)
    this.#answers = new IdempotentAnswers(deps)
  }

  /**
   * Queues a message of its own for each of the site's contact recipients, all or none. 429 `TooManyRequests`, 503
   * `ContactNotConfigured` without recipients. A filled honeypot gets the same response, and sends nothing.
   */
  async submit(
    site: Site,
    submission: ContactSubmission,
    { address, repeatable }: ContactSender,
  ): Promise<ContactAnswer> {
    const request = parseSubmission(submission)
    const isTrapped = (submission.website ?? '') !== ''
    const { contactPerMinute, contactPerHour } = RATE_LIMITS
    const sender = { siteId: site.siteId, of: ipPrefix(address) }
    const admitted = await this.#rateLimiter.admit(
      { ...sender, limit: contactPerMinute },
      { ...sender, limit: contactPerHour },
    )
    let isNew = false
    const answer = await this.#deps.database.withSite(site.siteId, (tx) => {
      const accept = (): Promise<ContactAnswer> => {
        isNew = true
        return this.#accept(tx, site, isTrapped ? undefined : request)
      }
      return repeatable ? this.#answers.once(tx, repeatable, accept) : accept()
    })
    if (!isNew) await admitted.takeBack()
    return answer
  }

  /** Without a request only the answer is made. */
  async #accept(
    tx: SiteTx,
    site: Site,
    request: ContactRequest | undefined,
  ): Promise<ContactAnswer> {
    const { ids, outboundMessages } = this.#deps
    const messageId = ids.named('msg')
    if (request === undefined) return { messageId }
    const recipients = await selectContactRecipients(tx)
    if (recipients.length === 0) {
      throw new AppError(
        'ContactNotConfigured',
        'This site has no recipients for contact messages yet',
      )
    }
    const { replyTo } = request
    const mail = {
      kind: 'contact',
      ...(replyTo !== undefined && { replyTo }),
      ...contactMail(request, { siteDomain: site.domain, messageId }),
    }
    for (const { email: to } of recipients) {
      await outboundMessages.accept(tx, site, { to, ...mail })
    }
    return { messageId }
  }
}

/** The message of a submission. Its own words come last, so that they cannot pass for ours. */
function contactMail(sent: ContactRequest, source: ContactSource): ContactMail {
  const answers =
    sent.replyTo === undefined
      ? 'An answer to this message does not reach them: write to that address.'
      : 'An answer to this message goes to that address.'
  const notice = `A visitor filled in the contact form of ${source.siteDomain}. Neither the name nor the address below is verified. ${answers}`
  const fields = fieldsOf(sent, source)
  return {
    subject: subjectOf(sent),
    text: [notice, fields.map((field) => field.join(': ')).join('\n'), sent.message].join('\n\n'),
    html: htmlOf(notice, fields, sent.message),
  }
}

const fieldsOf = (
  { name, email, phone, subject, metadata }: ContactRequest,
  { messageId }: ContactSource,
): (readonly [label: string, value: string])[] => [
  ...(name === '' ? [] : [['Name', name] as const]),
  ['Email', email],
  ...(phone === '' ? [] : [['Phone', phone] as const]),
  ...(subject === '' ? [] : [['Subject', subject] as const]),
  ['Reference', messageId],
  // Under their own prefix, or a key could pass for one of the fields above.
  ...metadata.map(([key, value]) => [`metadata.${key}`, value] as const),
]

/** `=?` begins an encoded word (RFC 2047): a reader's program would decode it to anything. */
const subjectOf = ({ subject, name, email }: ContactRequest): string =>
  `Contact form: ${subject || `message from ${name || email}`}`.replaceAll('=?', '= ?')

const htmlOf = (
  notice: string,
  fields: readonly (readonly [label: string, value: string])[],
  message: string,
): string =>
  [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width">',
    '<meta name="color-scheme" content="light dark"></head>',
    `<body style="margin:0;padding:24px 16px;${FONT};font-size:16px;line-height:1.5">`,
    `<p style="margin:0 0 16px;font-size:14px;opacity:.75">${escapeHtml(notice)}</p>`,
    '<table style="border-collapse:collapse;margin:0 0 16px">',
    ...fields.map(
      ([label, value]) =>
        `<tr><th dir="auto" style="text-align:start;vertical-align:top;padding:0 16px 4px 0">${escapeHtml(label)}</th><td dir="auto">${escapeHtml(value)}</td></tr>`,
    ),
    '</table>',
    `<div dir="auto" style="white-space:pre-wrap">${escapeHtml(message)}</div>`,
    '</body></html>',
  ].join('\n')
