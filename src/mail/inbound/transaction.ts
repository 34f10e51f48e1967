import type { MailCommand } from '#platform/smtp-server/smtp-policy.ts'
import { SmtpReply } from '#platform/smtp-server/smtp-reply.ts'

import type { Delivery } from './model.ts'

/** RFC 5321 §4.5.3.1.8: no server may take fewer. */
const MAX_RECIPIENTS = 100

/** A bounce of forwarded mail, and the address that it goes back to. */
interface ReturnedBounce {
  readonly siteId: string
  readonly address: string
}

/** A sender and the mailboxes of its recipients, between MAIL and the end of DATA. */
export class MailTransaction {
  readonly sender: string
  readonly declaredBytes: number
  readonly #recipients = new Set<string>()
  /** By site, then by mailbox. */
  readonly #deliveries = new Map<string, Map<string, Delivery>>()
  #returned: ReturnedBounce | undefined

  constructor({ address, declaredBytes }: MailCommand) {
    this.sender = address
    this.declaredBytes = declaredBytes
  }

  /** By site: each mailbox once, whichever of its addresses came first. */
  get deliveries(): ReadonlyMap<string, readonly Delivery[]> {
    return new Map([...this.#deliveries].map(([siteId, found]) => [siteId, [...found.values()]]))
  }

  /** Instead of mailboxes. */
  get returned(): ReturnedBounce | undefined {
    return this.#returned
  }

  /** Each has its own copy of the bytes. */
  get siteIds(): string[] {
    return this.#returned ? [this.#returned.siteId] : [...this.#deliveries.keys()]
  }

  /** Throws a 452 for one recipient too many. */
  makeRoom(address: string): void {
    if (this.#returned) throw alone()
    if (this.#recipients.size >= MAX_RECIPIENTS && !this.#recipients.has(address)) {
      throw new SmtpReply(452, '4.5.3', `No more than ${MAX_RECIPIENTS} recipients at once`)
    }
  }

  /** Throws a 452 where others are named already: a bounce has one recipient. */
  addReturned(returned: ReturnedBounce): void {
    if (this.#recipients.size > 0) throw alone()
    this.#returned = returned
  }

  has(siteId: string): boolean {
    return this.#deliveries.has(siteId)
  }

  add(siteId: string, recipient: string, mailboxIds: readonly string[]): void {
    this.#recipients.add(recipient)
    const ofSite = this.#deliveries.get(siteId) ?? new Map<string, Delivery>()
    this.#deliveries.set(siteId, ofSite)
    for (const mailboxId of mailboxIds) {
      if (!ofSite.has(mailboxId)) ofSite.set(mailboxId, { mailboxId, recipient })
    }
  }
}

const alone = (): SmtpReply =>
  new SmtpReply(
    452,
    '4.5.3',
    'A return path takes a bounce alone: send to the others by themselves',
  )
