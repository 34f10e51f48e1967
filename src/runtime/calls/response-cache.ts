import { LRUCache } from 'lru-cache'

import type { SharedCache } from '#platform/redis/shared-cache.ts'

const MAX_BYTES = 64 * 1024 * 1024
/** A single answer may take at most this part of the level, so that one site's large answers do not empty it. */
const MAX_ENTRY_BYTES = MAX_BYTES / 8
/** Longer bodies are not kept as keys of their own. */
const MAX_ALIAS_LENGTH = 4096
const MAX_ALIASES = 50_000

/** A finished answer, as it goes out. */
export interface KeptAnswer {
  readonly body: string
  readonly storedAt: number
  readonly expiresAt: number
}

export interface AnswerKey {
  readonly siteId: string
  /** The operation at one version and revision. */
  readonly group: string
  /** Caller and canonical payload. */
  readonly entry: string
}

/**
 * Answers of operations that may be repeated. Level 1 is this process; level 2 is what replicas share. Times are
 * milliseconds of the epoch.
 */
export class ResponseCache {
  readonly #shared: SharedCache
  readonly #now: () => number
  readonly #groups = new Map<string, Set<string>>()
  readonly #answers: LRUCache<string, KeptAnswer & { readonly groupKey: string }>
  /** From the exact request to its entry: a repeated request needs no parse. */
  readonly #aliases = new LRUCache<string, string>({
    max: MAX_ALIASES,
    maxSize: MAX_BYTES / 4,
    sizeCalculation: (entry, alias) => 2 * (entry.length + alias.length) + 64,
  })

  constructor(deps: { shared: SharedCache; now(): number }) {
    this.#shared = deps.shared
    this.#now = () => deps.now()
    this.#answers = new LRUCache({
      maxSize: MAX_BYTES,
      maxEntrySize: MAX_ENTRY_BYTES,
      // UTF-16 at worst.
      sizeCalculation: ({ body }, key) => 2 * (body.length + key.length) + 128,
      dispose: ({ groupKey }, key, reason) => {
        if (reason !== 'set') this.#forget(groupKey, key)
      },
    })
  }

  /** The answer to exactly this text by this caller, if it was asked before. */
  repeated(siteId: string, group: string, alias: string): KeptAnswer | undefined {
    // To look a long one up would be to hash all of it.
    if (alias.length > MAX_ALIAS_LENGTH) return undefined
    const entry = this.#aliases.get(`${siteId} ${group} ${alias}`)
    return entry === undefined ? undefined : this.local({ siteId, group, entry })
  }

  remember(key: AnswerKey, alias: string): void {
    if (alias.length > MAX_ALIAS_LENGTH) return
    this.#aliases.set(`${key.siteId} ${key.group} ${alias}`, key.entry)
  }

  local(key: AnswerKey): KeptAnswer | undefined {
    const text = textOf(key)
    const kept = this.#answers.get(text)
    if (kept === undefined) return undefined
    if (kept.expiresAt > this.#now()) return kept
    this.#answers.delete(text)
    return undefined
  }

  /** What another replica kept; it is kept here too from then on. */
  async fromShared(key: AnswerKey): Promise<KeptAnswer | undefined> {
    const found = await this.#shared.get(key)
    if (!found || found.expiresAt.getTime() <= this.#now()) return undefined
    const kept = {
      body: found.body,
      storedAt: found.storedAt.getTime(),
      expiresAt: found.expiresAt.getTime(),
    }
    this.#keep(key, kept)
    return kept
  }

  store(key: AnswerKey, body: string, ttlSeconds: number): KeptAnswer {
    const storedAt = this.#now()
    const kept = { body, storedAt, expiresAt: storedAt + ttlSeconds * 1000 }
    this.#keep(key, kept)
    this.#shared.set(key, body, ttlSeconds)
    return kept
  }

  /**
   * Drops a group on both levels and says how many answers were alive. What is here was also given to the shared level,
   * so the larger of the two counts is the number of answers, not their sum.
   */
  async dropGroup(siteId: string, group: string): Promise<number> {
    const here = this.#dropLocal(siteId, group)
    return Math.max(here, await this.#shared.dropGroup(siteId, group))
  }

  #dropLocal(siteId: string, group: string): number {
    const now = this.#now()
    let alive = 0
    for (const key of this.#groups.get(`${siteId} ${group}`) ?? []) {
      if ((this.#answers.peek(key)?.expiresAt ?? 0) > now) alive += 1
      this.#answers.delete(key)
    }
    return alive
  }

  #keep(key: AnswerKey, answer: KeptAnswer): void {
    const text = textOf(key)
    const groupKey = `${key.siteId} ${key.group}`
    this.#answers.set(text, { ...answer, groupKey })
    // An answer over the entry bound is not kept.
    if (!this.#answers.has(text)) return
    const group = this.#groups.get(groupKey) ?? new Set()
    this.#groups.set(groupKey, group.add(text))
  }

  #forget(groupKey: string, key: string): void {
    const group = this.#groups.get(groupKey)
    group?.delete(key)
    if (group?.size === 0) this.#groups.delete(groupKey)
  }
}

/** Neither a site id nor a group holds a space. */
const textOf = ({ siteId, group, entry }: AnswerKey): string => `${siteId} ${group} ${entry}`
