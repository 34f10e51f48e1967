import { createHash } from 'node:crypto'

import type { Cluster, Redis } from 'ioredis'

import { type Clock, systemClock } from '#base/clock.ts'
import type { Logger } from '#platform/log/logger.ts'

import { noSharedCache } from './no-shared-cache.ts'
import { RedisLink } from './redis-link.ts'
import type { CacheEntry, CacheKey, SharedCache } from './shared-cache.ts'

/** Drops that Redis did not confirm; beyond this many the oldest is left to expire. */
const MAX_OWED_DROPS = 10_000
const DROPS_AT_ONCE = 500

/** Entry and index change together: an index that misses an entry would let it outlive its group. */
const SET_SCRIPT = `
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', ARGV[3])
redis.call('ZADD', KEYS[2], ARGV[4], KEYS[1])
if redis.call('PTTL', KEYS[2]) < tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[2], ARGV[2]) end
return 1`

/** Counts what UNLINK really removed: an entry that has expired or was evicted does not count. */
const DROP_SCRIPT = `
local members = redis.call('ZRANGE', KEYS[1], 0, -1)
local dropped = 0
for first = 1, #members, 1000 do
  dropped = dropped + redis.call('UNLINK', unpack(members, first, math.min(first + 999, #members)))
end
redis.call('UNLINK', KEYS[1])
return dropped`

/** `redis://` or `rediss://`; `?cluster=true` for Redis Cluster. */
export function openSharedCache(redisUrl: string | undefined, logger: Logger): SharedCache {
  if (redisUrl === undefined) return noSharedCache
  const silence = 'redis does not answer; each replica caches alone'
  const link = new RedisLink(redisUrl, { logger, silence, clock: systemClock })
  return new RedisSharedCache({ link, clock: systemClock })
}

class RedisSharedCache implements SharedCache {
  readonly #link: RedisLink
  readonly #clock: Clock
  /** Indexes of groups that were dropped while Redis did not answer: their entries must not come back with it. */
  readonly #owedDrops = new Set<string>()

  constructor(deps: { link: RedisLink; clock: Clock }) {
    this.#link = deps.link
    this.#clock = deps.clock
  }

  async get(key: CacheKey): Promise<CacheEntry | undefined> {
    const stored = await this.#attempt((client) => client.get(entryKey(key)))
    return stored === undefined || stored === null ? undefined : parseEntry(stored)
  }

  set(key: CacheKey, body: string, ttlSeconds: number): void {
    const now = this.#clock.now().getTime()
    const ttlMs = Math.round(ttlSeconds * 1000)
    if (ttlMs <= 0) return
    const value = `${now} ${now + ttlMs}\n${body}`
    void this.#attempt((client) =>
      client.eval(SET_SCRIPT, 2, entryKey(key), indexKey(key), value, ttlMs, now, now + ttlMs),
    )
  }

  async dropGroup(siteId: string, group: string): Promise<number> {
    const index = indexKey({ siteId, group })
    const dropped = await this.#attempt((client) => client.eval(DROP_SCRIPT, 1, index))
    if (dropped === undefined) this.#oweDrop(index)
    return typeof dropped === 'number' ? dropped : 0
  }

  ping(): Promise<'ok' | 'down'> {
    return this.#link.ping()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#link.close()
  }

  #attempt<T>(command: (client: Redis | Cluster) => Promise<T>): Promise<T | undefined> {
    return this.#link.attempt(async (client) => {
      if (this.#owedDrops.size > 0) await this.#settleDrops(client)
      return command(client)
    })
  }

  #oweDrop(index: string): void {
    const [oldest] = this.#owedDrops
    if (oldest !== undefined && this.#owedDrops.size >= MAX_OWED_DROPS) {
      this.#owedDrops.delete(oldest)
    }
    this.#owedDrops.add(index)
  }

  async #settleDrops(client: Redis | Cluster): Promise<void> {
    while (this.#owedDrops.size > 0) {
      const some = [...this.#owedDrops].slice(0, DROPS_AT_ONCE)
      await Promise.all(some.map((index) => client.eval(DROP_SCRIPT, 1, index)))
      for (const index of some) this.#owedDrops.delete(index)
    }
  }
}

/** The braces make a site one slot of a cluster, so that a script may touch an entry and its index together. */
const entryKey = ({ siteId, group, entry }: CacheKey): string =>
  `croft:{${siteId}}:entry:${digest(group)}:${digest(entry)}`

const indexKey = ({ siteId, group }: Pick<CacheKey, 'siteId' | 'group'>): string =>
  `croft:{${siteId}}:index:${digest(group)}`

const digest = (text: string): string => createHash('sha256').update(text).digest('base64url')

function parseEntry(stored: string): CacheEntry | undefined {
  const newline = stored.indexOf('\n')
  const [storedAt, expiresAt] = stored.slice(0, newline).split(' ').map(Number)
  if (!storedAt || !expiresAt) return undefined
  return {
    body: stored.slice(newline + 1),
    storedAt: new Date(storedAt),
    expiresAt: new Date(expiresAt),
  }
}
