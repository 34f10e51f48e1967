import { AppError } from '#base/app-error.ts'
import { networkOf } from '#base/network-of.ts'
import type { OutboundMessages } from '#mail/outbound/service.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import { RateLimiter } from '#platform/rate-limits/rate-limiter.ts'
import { RATE_LIMITS } from '#platform/rate-limits/rate-limits.ts'
import type { Counters } from '#platform/redis/counters.ts'
import type { PlatformServices } from '#platform/services.ts'
import { IdempotentAnswers, type RepeatableRequest } from '#sites/idempotency/idempotent-answers.ts'
import type { Site } from '#sites/site.ts'

import { contactMail } from './contact-mail.ts'
import {
  type ContactAnswer,
  type ContactRequest,
  type ContactSubmission,
  parseSubmission,
} from './model.ts'
import { selectContactRecipients } from './queries.ts'

export interface ContactFormDeps extends Pick<PlatformServices, 'database' | 'clock' | 'ids'> {
  readonly counters: Counters
  readonly outboundMessages: Pick<OutboundMessages, 'accept'>
}

/** Who sends a form, as far as one can know. */
interface ContactSender {
  /** Of the network connection. */
  readonly address: string
  readonly repeatable: RepeatableRequest | undefined
}

/** What strangers write to the people of a site. */
export class ContactForm {
  readonly #deps: ContactFormDeps
  readonly #rateLimiter: RateLimiter
  readonly #answers: IdempotentAnswers

  constructor(deps: ContactFormDeps) {
    this.#deps = deps
    this.#rateLimiter = new RateLimiter(deps)
    this.#answers = new IdempotentAnswers(deps)
  }

  /**
   * Queues a message of its own for each of the site's contact recipients, all or none. 429 `TooManyRequests`, 503
   * `ContactNotConfigured` without recipients. A filled honeypot is answered alike, and sends nothing.
   */
  async submit(
    site: Site,
    submission: ContactSubmission,
    { address, repeatable }: ContactSender,
  ): Promise<ContactAnswer> {
    const request = parseSubmission(submission)
    const isTrapped = (submission.website ?? '') !== ''
    const { contactPerMinute, contactPerHour } = RATE_LIMITS
    const sender = { siteId: site.siteId, of: networkOf(address) }
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
      throw new AppError('ContactNotConfigured', 'Nobody receives what is sent to this site yet')
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
