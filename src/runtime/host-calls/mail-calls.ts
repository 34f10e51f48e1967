import { AppError } from '#base/app-error.ts'
import type { CounterRule, Counters } from '#platform/redis/counters.ts'
import type { HostCall } from '#platform/sandbox-host/sandbox.ts'
import { boundJson } from '#runtime/calls/json-depth.ts'

import { readMessage, type SiteMail } from './site-mail.ts'

const HOUR_MS = 3_600_000
/** Of one site, counted from the first one of an hour. */
const RECIPIENTS_PER_HOUR = 500

const RULE: CounterRule = {
  free: RECIPIENTS_PER_HOUR,
  firstWaitMs: HOUR_MS,
  lastWaitMs: HOUR_MS,
  forgetMs: HOUR_MS,
  forgetAfter: 'first',
}

/** Mail that functions send in their site's name. */
export class MailCalls {
  readonly #mail: SiteMail
  readonly #counters: Counters

  constructor(deps: { mail: SiteMail; counters: Counters }) {
    this.#mail = deps.mail
    this.#counters = deps.counters
  }

  async send({ siteId, function: asker, argument }: HostCall): Promise<string> {
    if (!asker) throw new AppError('Forbidden', 'Ad-hoc code sends no mail: functions do')
    boundJson(argument)
    const message = readMessage(JSON.parse(argument))
    const { length } = message.to
    await this.#count(siteId, length)
    try {
      const messageIds = await this.#mail.send(siteId, message)
      return JSON.stringify({ messageId: messageIds[0], messageIds })
    } catch (error) {
      await this.#undo(siteId, length)
      throw error
    }
  }

  /** All of a message's recipients, or none. */
  async #count(siteId: string, recipients: number): Promise<void> {
    const key = keyOf(siteId)
    const counted = await Promise.all(
      Array.from({ length: recipients }, () => this.#counters.step(key, RULE, 'begin')),
    )
    const admitted = counted.filter((each) => each.admitted).length
    if (admitted === recipients) return
    await this.#undo(siteId, admitted)
    const waitMs = Math.max(...counted.map((each) => each.waitMs))
    const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000))
    throw new AppError(
      'TooManyRequests',
      `A site may send mail to ${RECIPIENTS_PER_HOUR} recipients an hour: try again in ${retryAfterSeconds} s`,
      {
        retryAfterSeconds,
        fields: {
          retryable: true,
          limit: { name: 'mailRecipientsPerHour', value: RECIPIENTS_PER_HOUR },
        },
      },
    )
  }

  async #undo(siteId: string, recipients: number): Promise<void> {
    const key = keyOf(siteId)
    await Promise.all(
      Array.from({ length: recipients }, () => this.#counters.step(key, RULE, 'undo')),
    )
  }
}

const keyOf = (siteId: string) => ({ siteId, name: 'site-mail' })
