import { LRUCache } from 'lru-cache'

import { isServiceUnavailable } from '#base/app-error.ts'
import { LoadingCache } from '#base/loading-cache.ts'

import { domainFault, hostName } from './domain.ts'
import type { Site } from './site.ts'

const MAX_SITES = 20_000
/** Unknown hosts are kept briefly, and few of them, because strangers choose them. */
const MAX_UNKNOWN_HOSTS = 2_000
const UNKNOWN_HOST_TTL_MS = 2_000

/** A site as the request path knows it. */
export interface SiteEntry extends Site {
  /** Browser origins that may call `/data`, beside the site's own. */
  readonly corsOrigins: readonly string[]
  /** Where its console is; undefined where it has no name for one. */
  readonly consoleHost: string | undefined
  /** The one of its names that it was requested by. */
  readonly host: string
}

/** Finds the site of a host in memory; loads it once when it is not there. */
export class SiteDirectory {
  readonly #load: (domain: string) => Promise<SiteEntry | undefined>
  readonly #unknownHosts = new LRUCache<string, true>({
    max: MAX_UNKNOWN_HOSTS,
    ttl: UNKNOWN_HOST_TTL_MS,
  })
  readonly #sites = new LoadingCache<string, SiteEntry | undefined>({
    entries: { max: MAX_SITES },
    onMissing: (domain) => this.#unknownHosts.set(domain, true),
    servesDespite: isServiceUnavailable,
  })

  constructor(load: (domain: string) => Promise<SiteEntry | undefined>) {
    this.#load = load
  }

  /** The site of a host, if it is in memory; nothing is looked for. */
  inMemory(host: string): SiteEntry | undefined {
    return this.#sites.glance(hostName(host))
  }

  /** `host` as in the Host header. Synchronous when the answer is in memory. */
  byHost(host: string): SiteEntry | undefined | Promise<SiteEntry | undefined> {
    const domain = hostName(host)
    const known = this.#sites.getIfPresent(domain)
    if (known) return known
    if (this.#unknownHosts.has(domain) || domainFault(domain) !== undefined) return undefined
    return this.#sites.refresh(domain, () => this.#load(domain))
  }

  invalidate(domains: readonly string[]): void {
    for (const domain of domains) {
      this.#sites.invalidate(domain)
      this.#unknownHosts.delete(domain)
    }
  }

  /** Sites are looked for again before they are given out; while the database is away, those that were known serve on. */
  doubtAll(): void {
    this.#sites.doubtAll()
    this.#unknownHosts.clear()
  }
}
