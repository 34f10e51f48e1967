import { AppError } from '#base/app-error.ts'
import { ipPrefix } from '#base/ip-prefix.ts'
import { checkJsonSize } from '#base/json-depth.ts'
import { parseBase64 } from '#mail/sending/model.ts'
import { type LimitedUse, RateLimiter } from '#platform/rate-limits/rate-limiter.ts'
import { RATE_LIMITS } from '#platform/rate-limits/rate-limits.ts'
import type { Counters } from '#platform/redis/counters.ts'
import type { Call } from '#platform/sandbox-host/call.ts'
import type { HostCall } from '#platform/sandbox-host/sandbox.ts'

import {
  type MessageFromMailbox,
  type SiteMail,
  type SiteMessage,
  namesMailbox,
  readMailboxMessage,
  readMessage,
} from './site-mail.ts'

/** Mail that functions send in their site's name. */
export class MailCalls {
  readonly #mail: SiteMail
  readonly #rateLimiter: RateLimiter

  constructor(deps: { mail: SiteMail; counters: Counters }) {
    this.#mail = deps.mail
    this.#rateLimiter = new RateLimiter(deps)
  }

  async send(hostCall: HostCall): Promise<string> {
    requireFunction(hostCall)
    checkJsonSize(hostCall.argument)
    const input: unknown = JSON.parse(hostCall.argument)
    return namesMailbox(input)
      ? this.#sendFromMailbox(hostCall.call, readMailboxMessage(input))
      : this.#send(hostCall.call, readMessage(input))
  }

  /** A part of a large file, in base64, after the mailbox that is about to send it. */
  async stage(hostCall: HostCall): Promise<string> {
    requireFunction(hostCall)
    const { call, argument } = hostCall
    const end = argument.indexOf('\n')
    const bytes = parseBase64('contentBase64', argument.slice(end + 1))
    const mailbox = argument.slice(0, Math.max(end, 0))
    return JSON.stringify(await this.#mail.stagePart(call.site.siteId, { mailbox, bytes }))
  }

  #send(call: Call, message: SiteMessage): Promise<string> {
    return this.#counted(call, message.to.length, async () => {
      const messageIds = await this.#mail.send(call.site.siteId, message)
      return { messageId: messageIds[0], messageIds }
    })
  }

  #sendFromMailbox(call: Call, message: MessageFromMailbox): Promise<string> {
    const { to, cc = [], bcc = [] } = message.request
    return this.#counted(call, to.length + cc.length + bcc.length, async () => {
      const { id, threadId } = await this.#mail.sendFromMailbox(call.site.siteId, message)
      return { id, threadId, messageId: id, messageIds: [id] }
    })
  }

  /** What was not sent does not count. */
  async #counted(call: Call, recipients: number, work: () => Promise<object>): Promise<string> {
    const admitted = await this.#rateLimiter.admit(...usesOf(call, recipients))
    try {
      return JSON.stringify(await work())
    } catch (error) {
      await admitted.takeBack()
      throw error
    }
  }
}

function requireFunction(hostCall: HostCall): void {
  if (!hostCall.function) throw new AppError('Forbidden', 'Ad-hoc code sends no mail: functions do')
}

/** A stranger's network first: what it has used up is no matter to the site. */
function usesOf({ site: { siteId }, authority, address }: Call, amount: number): LimitedUse[] {
  const ofSite = { limit: RATE_LIMITS.functionMailPerHour, siteId, amount }
  if (authority !== null) return [ofSite]
  const limit = RATE_LIMITS.functionMailOfStrangersPerHour
  return [{ limit, siteId, of: ipPrefix(address ?? ''), amount }, ofSite]
}
