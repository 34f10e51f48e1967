import { Readable } from 'node:stream'
import { domainToASCII } from 'node:url'

import { hasCode } from '#base/error-code.ts'
import { withoutQuotes } from '#mail/addresses/local-part.ts'
import type { Recipients } from '#mail/recipients/recipients.ts'
import { type DnsResolver, NO_RECORD } from '#platform/dns/dns-resolver.ts'
import type { PlatformServices } from '#platform/services.ts'
import { SmtpReply } from '#platform/smtp-server/smtp-reply.ts'
import { MailRefused } from '#platform/smtp/mail-transport.ts'

import type { AuthenticationOutcome } from './authentication.ts'
import type { InboundGate } from './gate.ts'
import type { InboundDeliveries } from './inbound-deliveries.ts'
import { inboundMessageOf } from './inbound-message.ts'
import { type MessageStore, noRoom } from './message-store.ts'
import type { InboundMessage } from './model.ts'
import type { RecipientLookup, RecipientLookupDeps } from './recipient-lookup.ts'

const ENHANCED_CODE = /^5\.\d{1,3}\.\d{1,3}\b/

/** A message of a site here for one recipient. */
export interface LocalMessage {
  /** Names it at every attempt. */
  readonly key: string
  /** The domain of the site that it comes from. */
  readonly domain: string
  /** The envelope sender; empty: the null sender. */
  readonly from: string
  readonly to: string
  readonly mime: Uint8Array
  readonly outcome: AuthenticationOutcome
}

/** Mail between the sites of this installation, and within one: accepted as mail from other servers is. */
export class LocalMail {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'clock' | 'disk'> & {
      readonly hostname: string
      /** Whether there is a server that knows where else mail goes. */
      readonly hasGateway: boolean
      readonly dns: DnsResolver
      readonly siteByDomain: RecipientLookupDeps['siteByDomain']
      readonly recipients: Pick<Recipients, 'resolve' | 'hasMailbox'>
      /** Whether bounces of forwarded mail come to it. */
      readonly isReturnPath: (localPart: string) => boolean
      readonly gate: Pick<InboundGate, 'toSite'>
      readonly lookup: RecipientLookup
      readonly store: MessageStore
      readonly inboundDeliveries: Pick<InboundDeliveries, 'accept'>
      /** Keeps a bounce that goes back to its author: committed when it resolves. */
      readonly returnBounce: (
        siteId: string,
        arrival: InboundMessage,
        address: string,
      ) => Promise<void>
    },
  ) {
    this.#deps = deps
  }

  /**
   * Whether mail for the address ends here: it has a mailbox, or none while its site has others and no MX record names another
   * server. Rejects when that cannot be found out now.
   */
  async takes(address: string): Promise<boolean> {
    const at = address.lastIndexOf('@')
    const domain = domainToASCII(address.slice(at + 1))
    const site = at > 0 && domain !== '' ? await this.#deps.siteByDomain(domain) : undefined
    if (!site) return false
    const localPart = withoutQuotes(address.slice(0, at))
    const { recipients, isReturnPath } = this.#deps
    if (isReturnPath(localPart)) return true
    const { kind } = await recipients.resolve(site.siteId, localPart)
    if (kind === 'deliverable') return true
    return (await recipients.hasMailbox(site.siteId)) && !(await this.#isElsewhere(domain))
  }

  /** When it resolves, it is committed; another attempt changes nothing. Throws `MailRefused`, or anything else for what may pass. */
  async deliver(message: LocalMessage): Promise<void> {
    try {
      await this.#deliver(message)
    } catch (error) {
      throw error instanceof SmtpReply ? refusalOf(error) : error
    }
  }

  async #deliver({ key, domain, from, to, mime, outcome }: LocalMessage): Promise<void> {
    const { lookup, gate, store, inboundDeliveries, returnBounce, disk, clock, hostname } =
      this.#deps
    if (disk.isFull('database', 'objects')) throw noRoom()
    const found = await lookup.find(to, { sender: from, declaredBytes: mime.length })
    const { siteId, address, mailboxIds, returnTo } = found
    await gate.toSite(siteId)
    const stored = await store.store(Readable.from([mime]), [siteId], { outcome })
    const arrival = inboundMessageOf(stored, {
      siteId,
      sender: from,
      from: { address: '', heloName: domain, protocol: 'LOCAL', tls: null },
      deliveries: mailboxIds.map((mailboxId) => ({ mailboxId, recipient: address })),
      receivedAt: clock.now(),
      localKey: key,
      hostname,
    })
    if (returnTo !== undefined) return returnBounce(siteId, arrival, returnTo)
    const decision = await inboundDeliveries.accept(siteId, arrival)
    if ('messages' in decision && decision.messages.length > 0) return
    await store.remove(stored.rawIds)
    if ('refusal' in decision) throw decision.refusal
  }

  /** Whether its mail goes to another server, as far as DNS knows. */
  async #isElsewhere(domain: string): Promise<boolean> {
    const { dns, hostname, hasGateway } = this.#deps
    const answer = await dns(domain, 'MX').catch((error: unknown) => {
      if (!hasGateway || hasCode(error, ...NO_RECORD)) return []
      throw new Error(`DNS does not say now where mail for "${domain}" goes`, { cause: error })
    })
    const servers = answer.flatMap((record) =>
      typeof record === 'object' && 'exchange' in record ? [nameOf(record.exchange)] : [],
    )
    // RFC 7505: a null MX is no server.
    const named = servers.filter((server) => server !== '')
    return named.length > 0 && !named.includes(nameOf(hostname))
  }
}

const nameOf = (host: string): string => host.toLowerCase().replace(/\.$/, '')

/** In the form of a gateway's answer, but of no command: an address that is unknown here today may exist tomorrow. */
function refusalOf(reply: SmtpReply): Error {
  const { responseCode, message } = reply
  const text = `This server answered with ${responseCode} ${message}`
  if (responseCode < 500) return new Error(text, { cause: reply })
  const enhancedCode = ENHANCED_CODE.exec(message)?.[0]
  return new MailRefused(text, { command: undefined, responseCode, enhancedCode })
}
