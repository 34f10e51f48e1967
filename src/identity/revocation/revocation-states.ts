import { LRUCache } from 'lru-cache'

const MAX_ENTRIES = 100_000

/** Turns false, once, when what it stands for may have changed. */
export interface RevocationState {
  current: boolean
}

/**
 * Lets cached answers notice that their site or user changed. Take the validity first, read the database second: a change
 * in between then ends it. One that falls out of memory ends too.
 */
export class RevocationStates {
  readonly #byKey = new LRUCache<string, RevocationState>({
    max: MAX_ENTRIES,
    dispose: (validity) => {
      validity.current = false
    },
  })

  ofSite(siteId: string): RevocationState {
    return this.#of(siteId)
  }

  ofUser(siteId: string, sub: string): RevocationState {
    return this.#of(userKey(siteId, sub))
  }

  siteChanged(siteId: string): void {
    this.#byKey.delete(siteId)
  }

  userChanged(siteId: string, sub: string): void {
    this.#byKey.delete(userKey(siteId, sub))
  }

  allChanged(): void {
    this.#byKey.clear()
  }

  #of(key: string): RevocationState {
    const known = this.#byKey.get(key)
    if (known) return known
    const validity = { current: true }
    this.#byKey.set(key, validity)
    return validity
  }
}

const userKey = (siteId: string, sub: string): string => `${siteId} ${sub}`
