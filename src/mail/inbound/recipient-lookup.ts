import { domainToASCII } from 'node:url'

import { LRUCache } from 'lru-cache'

import { canonicalLocalPart, withoutQuotes } from '#mail/addresses/local-part.ts'
import type { RecipientResolution } from '#mail/recipients/model.ts'
import type { Notifications } from '#platform/postgres/notifications.ts'
import { SmtpReply } from '#platform/smtp-server/smtp-reply.ts'

import { mailboxFull } from './acceptance.ts'
import type { MailTransaction } from './transaction.ts'

const MAX_KNOWN = 10_000
/** Long enough for messages that come together. What fills up within it is seen at acceptance. */
const KNOWN_MS = 1000

/** Where mail to an address of a site goes. */
interface RecipientResolver {
  resolve(siteId: string, localPart: string): Promise<RecipientResolution>
}

export interface RecipientLookupDeps {
  readonly recipients: RecipientResolver
  /** The server's own name: RFC 5321 §4.5.1 has a postmaster without a domain. */
  readonly hostname: string
  /** The site of a domain in lower case. */
  readonly siteByDomain: (
    domain: string,
  ) => { readonly siteId: string } | undefined | Promise<{ readonly siteId: string } | undefined>
  /** The recipient of a bounce to a return path of forwarded mail; undefined for other addresses. Throws its refusal. */
  readonly returnPath: (siteId: string, localPart: string, sender: string) => string | undefined
}

export interface FoundRecipient {
  readonly siteId: string
  /** As it was sent, its domain in lower case. */
  readonly address: string
  readonly mailboxIds: readonly string[]
  /** The recipient of a bounce, where the address is a return path: then there is no mailbox. */
  readonly returnTo: string | undefined
}

type Deliverable = Extract<RecipientResolution, { kind: 'deliverable' }>

/** Finds the mailboxes behind a recipient, or says what is wrong with it. */
export class RecipientLookup {
  readonly #deps: RecipientLookupDeps
  readonly #known = new LRUCache<string, Deliverable>({ max: MAX_KNOWN, ttl: KNOWN_MS })
  /** Counts the times that something was forgotten: what was being read then may be out of date. */
  #forgotten = 0

  constructor(deps: RecipientLookupDeps) {
    this.#deps = deps
  }

  /** Forgets an address as soon as it changes, on whatever replica. */
  listen(notifications: Pick<Notifications, 'listen'>): Promise<void> {
    return notifications.listen('croft_mail_addresses', {
      onMessage: ({ siteId }) => this.#forget(`${siteId} `),
      onGap: () => this.#forget(''),
    })
  }

  /** Throws the refusal of an address that takes no mail, or none of that size now. */
  async find(
    recipient: string,
    { sender, declaredBytes }: Pick<MailTransaction, 'sender' | 'declaredBytes'>,
  ): Promise<FoundRecipient> {
    const address = recipient.includes('@') ? recipient : `${recipient}@${this.#deps.hostname}`
    const at = address.lastIndexOf('@')
    const localPart = address.slice(0, at)
    const domain = domainToASCII(address.slice(at + 1))
    const site = at > 0 && domain !== '' ? await this.#deps.siteByDomain(domain) : undefined
    if (!site) {
      throw new SmtpReply(550, '5.7.1', 'This server takes no mail for that domain: no relaying')
    }
    const found = { siteId: site.siteId, address: `${localPart}@${domain}` }
    const returnTo = this.#deps.returnPath(site.siteId, withoutQuotes(localPart), sender)
    if (returnTo !== undefined) return { ...found, mailboxIds: [], returnTo }
    const { mailboxes } = await this.#resolve(site.siteId, withoutQuotes(localPart))
    const hasRoom = mailboxes.every(
      ({ freeBytes, freeMessages }) =>
        freeMessages > 0 && freeBytes > 0 && freeBytes >= declaredBytes,
    )
    // For an alias all or nothing: otherwise it is unknown which of its mailboxes missed a message.
    if (!hasRoom) throw mailboxFull()
    const mailboxIds = mailboxes.map(({ mailboxId }) => mailboxId)
    return { ...found, mailboxIds, returnTo: undefined }
  }

  async #resolve(siteId: string, localPart: string): Promise<Deliverable> {
    const key = `${siteId} ${canonicalLocalPart(localPart)}`
    const known = this.#known.get(key)
    if (known) return known
    const forgotten = this.#forgotten
    const resolution = await this.#deps.recipients.resolve(siteId, localPart)
    switch (resolution.kind) {
      case 'unknown':
        throw new SmtpReply(550, '5.1.1', 'There is no such mailbox here')
      case 'disabled':
        throw new SmtpReply(550, '5.2.1', 'This mailbox takes no mail any more')
      case 'deliverable':
        if (forgotten === this.#forgotten) this.#known.set(key, resolution)
        return resolution
    }
  }

  #forget(prefix: string): void {
    this.#forgotten += 1
    for (const key of this.#known.keys()) if (key.startsWith(prefix)) this.#known.delete(key)
  }
}
