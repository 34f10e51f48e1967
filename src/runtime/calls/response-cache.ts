import { createHash } from 'node:crypto'

import { LRUCache } from 'lru-cache'

import { canonicalJson } from '#base/canonical-json.ts'
import { Sampler } from '#base/sampler.ts'
import { Tally } from '#base/tally.ts'
import type { CacheKey, SharedCache } from '#platform/redis/shared-cache.ts'
import type { Call } from '#platform/sandbox-host/call.ts'
import { withExactNumbers } from '#runtime/tables/items/exact-numbers.ts'

import { payloadOf } from './request-body.ts'

const MAX_BYTES = 64 * 1024 * 1024
/** A single answer may take at most this part of the level, so that one site's large answers do not empty it. */
const MAX_ENTRY_BYTES = MAX_BYTES / 8
/** Longer bodies are not kept as keys of their own. */
const MAX_REQUEST_LENGTH = 4096
const MAX_REQUESTS = 50_000

/** Parsing and sorting a longer body costs more than the chance that its keys come in another order. */
const MAX_CANONICAL = 64 * 1024
/** Longer entries are hashed, so that keys take no more memory than answers. */
const MAX_PLAIN_ENTRY = 512

/** A finished answer, as it goes out. */
export interface CachedResponse {
  readonly body: string
  readonly storedAt: number
  readonly expiresAt: number
}

/**
 * Answers of operations that may be repeated. Level 1 is this process; level 2 is what replicas share. Times are
 * milliseconds of the epoch.
 */
export class ResponseCache {
  /** Where answers were looked for, and where they were found. */
  readonly lookups = new Tally(['memory hit', 'shared hit', 'miss'])
  readonly #shared: SharedCache
  readonly #now: () => number
  readonly #groups = new Map<string, Set<string>>()
  /** To note each use takes as long as to find the answer. */
  readonly #chance = new Sampler()
  readonly #answers: LRUCache<string, CachedResponse & { readonly groupKey: string }>
  /** From the exact request to its entry: a repeated request needs no parse. */
  readonly #requests = new LRUCache<string, string>({
    max: MAX_REQUESTS,
    maxSize: MAX_BYTES / 4,
    sizeCalculation: (entry, request) => 2 * (entry.length + request.length) + 64,
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

  /** What the answers here take, keys included. */
  get sizeBytes(): number {
    return this.#answers.calculatedSize
  }

  /** The answer to exactly this text by this caller, if it was asked before. */
  getRepeated(siteId: string, group: string, request: string): CachedResponse | undefined {
    // To look a long one up would be to hash all of it.
    if (request.length > MAX_REQUEST_LENGTH) return undefined
    const text = `${siteId} ${group} ${request}`
    const entry = this.#chance.isSampled() ? this.#requests.get(text) : this.#requests.peek(text)
    return entry === undefined ? undefined : this.getLocal({ siteId, group, entry })
  }

  addRequest(key: CacheKey, request: string): void {
    if (request.length > MAX_REQUEST_LENGTH) return
    this.#requests.set(`${key.siteId} ${key.group} ${request}`, key.entry)
  }

  getLocal(key: CacheKey): CachedResponse | undefined {
    const text = keyTextOf(key)
    const kept = this.#chance.isSampled() ? this.#answers.get(text) : this.#answers.peek(text)
    if (kept === undefined) return undefined
    if (kept.expiresAt > this.#now()) {
      this.lookups.add('memory hit')
      return kept
    }
    this.#answers.delete(text)
    return undefined
  }

  /** What another replica kept; it is kept here too from then on. */
  async getShared(key: CacheKey): Promise<CachedResponse | undefined> {
    const found = await this.#shared.get(key)
    const isHit = found !== undefined && found.expiresAt.getTime() > this.#now()
    this.lookups.add(isHit ? 'shared hit' : 'miss')
    if (!isHit) return undefined
    const kept = {
      body: found.body,
      storedAt: found.storedAt.getTime(),
      expiresAt: found.expiresAt.getTime(),
    }
    this.#keep(key, kept)
    return kept
  }

  store(key: CacheKey, body: string, ttlSeconds: number): CachedResponse {
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

  #keep(key: CacheKey, answer: CachedResponse): void {
    const text = keyTextOf(key)
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
const keyTextOf = ({ siteId, group, entry }: CacheKey): string => `${siteId} ${group} ${entry}`

type CachedCall = Pick<Call, 'site' | 'authority' | 'body'>

/** The exact text of a request and its caller: what two repeated requests have in common. */
export const requestTextOf = ({ authority, body }: CachedCall): string =>
  `${callerText(authority)}\n${body}`

/**
 * Who asked for what. The caller is part of it wherever the function sees one, with its groups, so that no answer
 * reaches another caller; so is the site's own authority, whose nested calls open what strangers may not. Refuses a short body that a function could not be called with.
 */
export function cacheKeyOf({ site, authority, body }: CachedCall, group: string): CacheKey {
  // A long body that is not valid is refused when it runs, and then nothing is kept under this key. Tables distinguish numbers
  // that are one as doubles.
  const isRaw = body.length > MAX_CANONICAL || withExactNumbers(body) !== body
  const request = isRaw ? `raw ${body}` : `json ${canonicalJson(payloadOf(body))}`
  const entry = `${callerText(authority)}\n${request}`
  return {
    siteId: site.siteId,
    group,
    entry: entry.length > MAX_PLAIN_ENTRY ? sha256(entry) : entry,
  }
}

/** The text of a caller is JSON: it is never one of the other two. */
function callerText(authority: Call['authority']): string {
  if (authority === null) return ''
  return authority === 'system' ? authority : authority.authText
}

const sha256 = (text: string): string =>
  `sha256 ${createHash('sha256').update(text).digest('base64url')}`
