import { LRUCache } from 'lru-cache'

const MAX_ENTRIES = 100_000

/** The state of a user or of a site. `current` turns false, once, when a token of theirs has to be verified again. */
export interface RevocationState {
  current: boolean
}

/**
 * Lets cached answers notice that their site or user changed. Take the state first, read the database second: a change
 * in between then ends it. One that falls out of memory ends too.
 */
export class RevocationStates {
  readonly #byKey = new LRUCache<string, RevocationState>({
    max: MAX_ENTRIES,
    dispose: (state) => {
      state.current = false
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
    const kept = this.#byKey.get(key)
    if (kept) return kept
    const state = { current: true }
    this.#byKey.set(key, state)
    return state
  }
}

const userKey = (siteId: string, sub: string): string => `${siteId} ${sub}`
