import { LRUCache } from 'lru-cache'

const REMEMBERED = 100_000

/** Turns false, once, when what it stands for may have changed. */
export interface Validity {
  current: boolean
}

/**
 * Lets cached answers notice that their site or user changed. Take the validity first, read the database second: a change
 * in between then ends it. One that falls out of memory ends too.
 */
export class Validities {
  readonly #byKey = new LRUCache<string, Validity>({
    max: REMEMBERED,
    dispose: (validity) => {
      validity.current = false
    },
  })

  ofSite(siteId: string): Validity {
    return this.#of(siteId)
  }

  ofUser(siteId: string, sub: string): Validity {
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

  #of(key: string): Validity {
    const known = this.#byKey.get(key)
    if (known) return known
    const validity = { current: true }
    this.#byKey.set(key, validity)
    return validity
  }
}

const userKey = (siteId: string, sub: string): string => `${siteId} ${sub}`
