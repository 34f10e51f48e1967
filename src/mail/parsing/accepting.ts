import { LRUCache } from 'lru-cache'

import { InFlightCounter } from '#base/in-flight-counter.ts'

/** Sites beyond that are forgotten: their messages are parsed while others come. */
const MAX_SITES = 1000

/** Messages that this process has received to their end and not acknowledged, by site. */
export class Accepting {
  readonly #sites = new LRUCache<string, InFlightCounter>({
    max: MAX_SITES,
    memoMethod: () => new InFlightCounter(),
  })
  readonly #all = new InFlightCounter()

  /** Returns what ends it; to be called once. */
  begin(siteIds: readonly string[]): () => void {
    const ends = siteIds.map((siteId) => this.#sites.memo(siteId).begin())
    ends.push(this.#all.begin())
    return () => {
      for (const end of ends) end()
    }
  }

  /** As `pause` of `InFlightCounter`, for messages to one site. */
  async pause(siteId: string, limits: Parameters<InFlightCounter['pause']>[0]): Promise<boolean> {
    return this.#sites.get(siteId)?.pause(limits) ?? true
  }

  /** The same for messages to any site. */
  pauseOfAll(limits: Parameters<InFlightCounter['pause']>[0]): Promise<boolean> {
    return this.#all.pause(limits)
  }
}
