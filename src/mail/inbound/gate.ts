import { LRUCache } from 'lru-cache'

import { ipPrefix } from '#base/ip-prefix.ts'
import type { MailConfig } from '#config/config.ts'
import { type LimitedUse, RateLimiter } from '#platform/rate-limits/rate-limiter.ts'
import type { Counters } from '#platform/redis/counters.ts'
import { SmtpReply } from '#platform/smtp-server/smtp-reply.ts'

const MINUTE_MS = 60_000
/** How many messages of the largest size a network or a site may have in a minute, when it has no smaller ones. */
const LARGEST_PER_MINUTE = { network: 20, site: 100 }
const MAX_METERS = 50_000
/** Counts of all sites together, in place of site ids. */
const NO_SITE = 'smtp'

export interface GateDeps {
  readonly limits: MailConfig['smtpLimits']
  readonly counters: Counters
}

/** How much of it comes from a network, and goes to a site: connections at once, messages and bytes in a minute. */
export class InboundGate {
  readonly #limits: GateDeps['limits']
  readonly #rateLimiter: RateLimiter
  /** Per network. */
  readonly #connections = new Map<string, number>()
  /** In the current minute; each replica measures its own. */
  readonly #bytes = new LRUCache<string, number>({ max: MAX_METERS, ttl: MINUTE_MS })

  constructor(deps: GateDeps) {
    this.#limits = deps.limits
    this.#rateLimiter = new RateLimiter(deps)
  }

  /** Counts a connection until `left`; throws a 421 when its network has too many. */
  entered(address: string): void {
    const network = ipPrefix(address)
    const open = this.#connections.get(network) ?? 0
    if (open >= this.#limits.connectionsPerNetwork) {
      throw new SmtpReply(421, '4.7.0', 'Too many connections from your network')
    }
    this.#connections.set(network, open + 1)
  }

  left(address: string): void {
    const network = ipPrefix(address)
    const open = (this.#connections.get(network) ?? 1) - 1
    if (open > 0) this.#connections.set(network, open)
    else this.#connections.delete(network)
  }

  /** Counts a message of a network; throws a 450 when there were too many in this minute. */
  async fromNetwork(address: string): Promise<void> {
    const { messagesPerMinutePerNetwork: most, messageBytes } = this.#limits
    const of = ipPrefix(address)
    const refusal = 'Too much mail from your network'
    const limit = { counter: 'network', most, windowMs: MINUTE_MS, refusal }
    const fits = this.#fits(`network ${of}`, messageBytes * LARGEST_PER_MINUTE.network)
    if (!fits || !(await this.#admits({ limit, siteId: NO_SITE, of }))) {
      throw new SmtpReply(450, '4.7.1', `${refusal}: try again later`)
    }
  }

  /** Counts a message to a site; throws a 450 when there were too many in this minute. */
  async toSite(siteId: string): Promise<void> {
    const { messagesPerMinutePerSite: most, messageBytes } = this.#limits
    const refusal = 'Too much mail for this domain'
    const limit = { counter: 'smtp', most, windowMs: MINUTE_MS, refusal }
    const fits = this.#fits(`site ${siteId}`, messageBytes * LARGEST_PER_MINUTE.site)
    if (!fits || !(await this.#admits({ limit, siteId }))) {
      throw new SmtpReply(450, '4.7.1', `${refusal}: try again later`)
    }
  }

  /** Counts what a message had, whatever became of it. */
  received(address: string, siteIds: readonly string[], bytes: number): void {
    const names = [`network ${ipPrefix(address)}`, ...siteIds.map((siteId) => `site ${siteId}`)]
    for (const name of names) {
      // A minute begins with the first message, and ends for all that it has.
      this.#bytes.set(name, (this.#bytes.get(name) ?? 0) + bytes, { noUpdateTTL: true })
    }
  }

  #fits(name: string, most: number): boolean {
    return (this.#bytes.get(name) ?? 0) < most
  }

  async #admits(use: LimitedUse): Promise<boolean> {
    return !('refusal' in (await this.#rateLimiter.decide(use)))
  }
}
