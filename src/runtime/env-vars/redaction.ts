import { LRUCache } from 'lru-cache'

import { type Secret, type SecretMatcher, secretMatcher } from './secret-matcher.ts'

/** In UTF-16 units of secrets. */
const MAX_SIZE = 64 * 1024 * 1024
/** The longest run of a function, and then some: it holds the values it was started with. */
const LONGEST_RUN_MS = 20 * 60 * 1000
/** Values of a site that are looked for; those that left longest ago go first. */
const MAX_SECRETS = 1000

interface KnownSecret extends Secret {
  /** Infinite while the current revision has it. */
  readonly until: number
}

interface SiteSecrets {
  readonly known: readonly KnownSecret[]
  readonly matcher: SecretMatcher | undefined
}

/** Takes the values of a site's secrets out of what its code printed or threw. */
export class Redaction {
  readonly #now: () => number
  readonly #sites: LRUCache<string, SiteSecrets>

  constructor(deps: {
    now(): number
    /** The secrets of a site found no room any more: it may not be served before they are learned again. */
    forgotten(siteId: string): void
    /** In UTF-16 units of secrets. */
    readonly maxSize?: number
  }) {
    this.#now = () => deps.now()
    this.#sites = new LRUCache({
      maxSize: deps.maxSize ?? MAX_SIZE,
      sizeCalculation: ({ known }) =>
        known.reduce((sum, { value }) => sum + value.length, 256 * (known.length + 1)),
      dispose: (_secrets, siteId, reason) => {
        if (reason === 'evict') deps.forgotten(siteId)
      },
    })
  }

  /** What a revision's functions may see from now on. Values that it lacks are looked for until no run can hold them. */
  addSecrets(siteId: string, secrets: readonly Secret[]): void {
    const before = this.#sites.peek(siteId)?.known ?? []
    if (secrets.length === 0 && before.length === 0) return
    const now = this.#now()
    const current = new Set(secrets.map(({ value }) => value))
    const earlier = before
      .map((known) => ({ ...known, until: Math.min(known.until, now + LONGEST_RUN_MS) }))
      .filter(({ value, until }) => until > now && !current.has(value))
      .toSorted((a, b) => b.until - a.until)
    const known = [...secrets.map((secret) => ({ ...secret, until: Infinity })), ...earlier]
    const kept = known.slice(0, MAX_SECRETS)
    this.#sites.set(siteId, { known: kept, matcher: secretMatcher(kept) })
  }

  redact(siteId: string, text: string): string {
    return this.#sites.get(siteId)?.matcher?.redact(text) ?? text
  }
}
