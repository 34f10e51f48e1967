import { LRUCache } from 'lru-cache'

import { SingleFlight } from '#base/single-flight.ts'

import { domainFault, hostName } from './domain.ts'
import type { Site } from './site.ts'

const REMEMBERED_SITES = 20_000
/** Names that nobody serves are remembered briefly, and few: strangers choose them. */
const REMEMBERED_STRANGERS = 2_000
const STRANGER_MS = 2_000

/** A site as the request path knows it. */
export interface SiteEntry extends Site {
  /** Browser origins that may call `/data`, beside the site's own. */
  readonly corsOrigins: readonly string[]
}

/** Finds the site of a host in memory; loads it once when it is not there. */
export class SiteDirectory {
  readonly #load: (domain: string) => Promise<SiteEntry | undefined>
  readonly #flights = new SingleFlight<string, SiteEntry | undefined>()
  readonly #sites = new LRUCache<string, SiteEntry>({ max: REMEMBERED_SITES })
  readonly #strangers = new LRUCache<string, true>({ max: REMEMBERED_STRANGERS, ttl: STRANGER_MS })
  #changes = 0

  constructor(load: (domain: string) => Promise<SiteEntry | undefined>) {
    this.#load = load
  }

  /** `host` as in the Host header. Synchronous when the answer is in memory. */
  byHost(host: string): SiteEntry | undefined | Promise<SiteEntry | undefined> {
    const domain = hostName(host)
    const known = this.#sites.get(domain)
    if (known) return known
    if (this.#strangers.has(domain) || domainFault(domain) !== undefined) return undefined
    return this.#flights.run(domain, () => this.#remember(domain))
  }

  forget(domains: readonly string[]): void {
    this.#changes += 1
    for (const domain of domains) {
      this.#sites.delete(domain)
      this.#strangers.delete(domain)
      this.#flights.detach(domain)
    }
  }

  forgetAll(): void {
    this.forget([...this.#sites.keys(), ...this.#strangers.keys()])
  }

  async #remember(domain: string): Promise<SiteEntry | undefined> {
    const changesBefore = this.#changes
    const site = await this.#load(domain)
    // A change that came meanwhile may have been about this very site: answer, but do not keep it.
    if (changesBefore !== this.#changes) return site
    if (site) this.#sites.set(domain, site)
    else this.#strangers.set(domain, true)
    return site
  }
}
