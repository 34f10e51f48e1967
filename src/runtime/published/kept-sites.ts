import { LRUCache } from 'lru-cache'

import { Sampler } from '#base/sampler.ts'
import type { Program } from '#platform/sandbox-host/sandbox.ts'

import { type PublishedSite, weightOf } from './published-site.ts'

const MAX_BYTES = 256 * 1024 * 1024

/** Sites in memory, those asked for last the longest. One in doubt has to be confirmed before it serves. */
export class KeptSites {
  readonly #sites: LRUCache<string, PublishedSite>
  readonly #doubted = new Set<string>()
  /** To note each use takes as long as to find the site. */
  readonly #chance = new Sampler()

  /** Calls `retire` with the program of a site that is kept no more. */
  constructor(retire: (program: Program) => void) {
    this.#sites = new LRUCache<string, PublishedSite>({
      maxSize: MAX_BYTES,
      sizeCalculation: weightOf,
      dispose: (site, siteId, reason) => {
        if (reason === 'set') return
        this.#doubted.delete(siteId)
        retire(site.program)
      },
    })
  }

  /** Counts as a use. */
  get(siteId: string): PublishedSite | undefined {
    if (this.isDoubted(siteId)) return undefined
    return this.#chance.isSampled() ? this.#sites.get(siteId) : this.#sites.peek(siteId)
  }

  peek(siteId: string): PublishedSite | undefined {
    return this.isDoubted(siteId) ? undefined : this.#sites.peek(siteId)
  }

  /** Also what is in doubt. */
  peekKept(siteId: string): PublishedSite | undefined {
    return this.#sites.peek(siteId)
  }

  /** The set is empty as good as always. */
  isDoubted(siteId: string): boolean {
    return this.#doubted.size > 0 && this.#doubted.has(siteId)
  }

  ids(): Iterable<string> {
    return this.#sites.keys()
  }

  set(siteId: string, site: PublishedSite): void {
    this.#doubted.delete(siteId)
    this.#sites.set(siteId, site)
  }

  delete(siteId: string): void {
    this.#sites.delete(siteId)
  }

  doubt(siteId: string): void {
    if (this.#sites.has(siteId)) this.#doubted.add(siteId)
  }

  doubtAll(): void {
    this.#doubted.clear()
    for (const siteId of this.#sites.keys()) this.#doubted.add(siteId)
  }
}
