import type { ByteRoom } from '#base/byte-room.ts'

/** What answers of one site may hold in the service until they are handed to its code. */
const SITE_ANSWER_BYTES = 64 * 1024 * 1024
/** The same for all sites together. */
const ALL_ANSWER_BYTES = 256 * 1024 * 1024
/** Of that, for sites that hold nothing yet: others' large answers leave a way in. */
const FIRST_ANSWER_BYTES = 64 * 1024 * 1024

/** What the answer of one host call takes of the service's memory, until the call leaves its place. */
interface ResponseMemoryBudget extends ByteRoom {
  leave(): void
}

interface SiteBudget {
  heldBytes: number
  readonly waiting: Set<Ticket>
}

interface Ticket {
  readonly bytes: number
  readonly begin: () => void
}

/** Memory for answers whose size is another's choice: bounded for each site and in all, sites in turn. */
export class ResponseMemoryBudgets {
  /** The site that was let in last is the last one. */
  readonly #sites = new Map<string, SiteBudget>()
  #heldBytes = 0

  /** For one host call; to leave gives back all that it holds. */
  open(siteId: string): ResponseMemoryBudget {
    let held = 0
    const giveBack = (bytes: number): void => {
      held -= bytes
      this.#give(siteId, bytes)
    }
    return {
      take: async (bytes, signal) => {
        const taken = await this.#take(siteId, bytes, signal)
        if (taken) held += bytes
        return taken
      },
      giveBack,
      leave: () => giveBack(held),
    }
  }

  #take(siteId: string, bytes: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false)
    const site = this.#sites.get(siteId) ?? { heldBytes: 0, waiting: new Set() }
    this.#sites.set(siteId, site)
    if (site.waiting.size === 0 && this.#fits(site, bytes)) {
      this.#hold(site, bytes)
      return Promise.resolve(true)
    }
    return new Promise((resolve) => {
      const abandon = (): void => {
        site.waiting.delete(ticket)
        this.#forget(siteId, site)
        resolve(false)
      }
      const begin = (): void => {
        signal.removeEventListener('abort', abandon)
        resolve(true)
      }
      const ticket = { bytes, begin }
      site.waiting.add(ticket)
      signal.addEventListener('abort', abandon, { once: true })
    })
  }

  #give(siteId: string, bytes: number): void {
    const site = this.#sites.get(siteId)
    if (!site || bytes === 0) return
    this.#hold(site, -bytes)
    while (this.#letOneIn());
    this.#forget(siteId, site)
  }

  #letOneIn(): boolean {
    for (const [siteId, site] of this.#sites) {
      const [next] = site.waiting
      if (!next || !this.#fits(site, next.bytes)) continue
      site.waiting.delete(next)
      this.#hold(site, next.bytes)
      this.#sites.delete(siteId)
      this.#sites.set(siteId, site)
      next.begin()
      return true
    }
    return false
  }

  #hold(site: SiteBudget, bytes: number): void {
    site.heldBytes += bytes
    this.#heldBytes += bytes
  }

  #fits({ heldBytes }: SiteBudget, bytes: number): boolean {
    const allBytes = ALL_ANSWER_BYTES - (heldBytes === 0 ? 0 : FIRST_ANSWER_BYTES)
    return heldBytes + bytes <= SITE_ANSWER_BYTES && this.#heldBytes + bytes <= allBytes
  }

  #forget(siteId: string, { heldBytes, waiting }: SiteBudget): void {
    if (heldBytes === 0 && waiting.size === 0) this.#sites.delete(siteId)
  }
}
