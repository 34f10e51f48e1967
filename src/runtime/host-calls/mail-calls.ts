import { AppError } from '#base/app-error.ts'
import { checkJsonSize } from '#base/json-depth.ts'
import { networkOf } from '#base/network-of.ts'
import { parseBase64 } from '#mail/sending/model.ts'
import {
  type CounterKey,
  type CounterRule,
  type Counters,
  perWindow,
} from '#platform/redis/counters.ts'
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

const HOUR_MS = 3_600_000
/** Limits a site's recipients in the hour that begins with the first of them. */
const RECIPIENTS_PER_HOUR = 500
/** Limits those of mail that strangers of one network set off, so that one of them leaves the site its mail. */
const RECIPIENTS_OF_STRANGERS = 100

/** Recipients that are counted together. */
interface Share {
  readonly key: CounterKey
  readonly most: number
  readonly limitName: string
  readonly whose: string
}

/** Mail that functions send in their site's name. */
export class MailCalls {
  readonly #mail: SiteMail
  readonly #counters: Counters

  constructor(deps: { mail: SiteMail; counters: Counters }) {
    this.#mail = deps.mail
    this.#counters = deps.counters
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
    const shares = sharesOf(call)
    await this.#countAll(shares, recipients)
    try {
      return JSON.stringify(await work())
    } catch (error) {
      for (const share of shares) await this.#undo(share, recipients)
      throw error
    }
  }

  async #countAll(shares: readonly Share[], recipients: number): Promise<void> {
    const counted: Share[] = []
    try {
      for (const share of shares) {
        await this.#count(share, recipients)
        counted.push(share)
      }
    } catch (error) {
      for (const share of counted) await this.#undo(share, recipients)
      throw error
    }
  }

  /** All of a message's recipients, or none. */
  async #count(share: Share, recipients: number): Promise<void> {
    const rule = ruleOf(share)
    const counted = await Promise.all(
      Array.from({ length: recipients }, () => this.#counters.step(share.key, rule, 'begin')),
    )
    const admitted = counted.filter((each) => each.admitted).length
    if (admitted === recipients) return
    await this.#undo(share, admitted)
    throw tooMany(share, Math.max(...counted.map((each) => each.waitMs)))
  }

  async #undo(share: Share, recipients: number): Promise<void> {
    const rule = ruleOf(share)
    await Promise.all(
      Array.from({ length: recipients }, () => this.#counters.step(share.key, rule, 'undo')),
    )
  }
}

function requireFunction(hostCall: HostCall): void {
  if (!hostCall.function) throw new AppError('Forbidden', 'Ad-hoc code sends no mail: functions do')
}

/** A stranger's network first: what it has used up is no matter to the site. */
function sharesOf({ site: { siteId }, authority, address }: Call): Share[] {
  const site = {
    key: { siteId, name: 'site-mail' },
    most: RECIPIENTS_PER_HOUR,
    limitName: 'mailRecipientsPerHour',
    whose: 'A site',
  }
  if (authority !== null) return [site]
  const strangers = {
    key: { siteId, name: `site-mail ${networkOf(address ?? '')}` },
    most: RECIPIENTS_OF_STRANGERS,
    limitName: 'mailRecipientsOfStrangersPerHour',
    whose: 'For callers without a token who share a network a site',
  }
  return [strangers, site]
}

const ruleOf = ({ most }: Share): CounterRule => perWindow(most, HOUR_MS)

function tooMany({ most, limitName, whose }: Share, waitMs: number): AppError {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000))
  return new AppError(
    'TooManyRequests',
    `${whose} may send mail to ${most} recipients an hour: try again in ${retryAfterSeconds} s`,
    { retryAfterSeconds, fields: { retryable: true, limit: { name: limitName, value: most } } },
  )
}
