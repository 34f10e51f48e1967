import { createHash } from 'node:crypto'

import type { Cluster, Redis } from 'ioredis'

import { type Clock, systemClock } from '#base/clock.ts'
import type { Logger } from '#platform/log/logger.ts'

import type { RedisActivity } from './redis-activity.ts'
import type { RedisConnection, RedisTimeouts } from './redis-connection.ts'
import type { CacheEntry, CacheKey, SharedCache } from './shared-cache.ts'

/** Drops that Redis did not confirm; beyond this many the oldest is left to expire. */
const MAX_OWED_DROPS = 10_000
const DROPS_AT_ONCE = 500

/** Bounds the entries of one site with their keys, because strangers choose what is asked. The entry that expires first goes first. */
const MAX_SITE_BYTES = 64 * 1024 * 1024

/** The part that both scripts share: it keeps the total of a site's entries beside the size of each. */
const ACCOUNT = `
local total = tonumber(redis.call('HGET', KEYS[2], 'total') or '0')
local function forget(key)
  total = total - tonumber(redis.call('HGET', KEYS[2], key) or '0')
  redis.call('HDEL', KEYS[2], key)
end`

/**
 * Entry, its group's index and its site's account change together: an index that misses an entry would let it outlive its
 * group.
 */
const SET_SCRIPT = `${ACCOUNT}
local all, sizes, entry, index = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local value, ttl, now, ends, most = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4], tonumber(ARGV[5])
for _, key in ipairs(redis.call('ZRANGEBYSCORE', all, '-inf', now, 'LIMIT', 0, 1000)) do
  forget(key)
  redis.call('ZREM', all, key)
end
forget(entry)
local size = #value + 4 * #entry
redis.call('SET', entry, value, 'PX', ttl)
redis.call('ZREMRANGEBYSCORE', index, '-inf', now)
redis.call('ZADD', index, ends, entry)
redis.call('ZADD', all, ends, entry)
redis.call('HSET', sizes, entry, size)
total = total + size
while total > most do
  local first = redis.call('ZPOPMIN', all)[1]
  if not first then break end
  forget(first)
  redis.call('UNLINK', first)
end
redis.call('HSET', sizes, 'total', total)
for _, key in ipairs({ index, all, sizes }) do
  if redis.call('PTTL', key) < ttl then redis.call('PEXPIRE', key, ttl) end
end
return 1`

/** Counts what UNLINK really removed: an entry that has expired or was evicted does not count. */
const DROP_SCRIPT = `${ACCOUNT}
local members = redis.call('ZRANGE', KEYS[3], 0, -1)
local dropped = 0
for _, key in ipairs(members) do
  forget(key)
  redis.call('ZREM', KEYS[1], key)
  dropped = dropped + redis.call('UNLINK', key)
end
redis.call('UNLINK', KEYS[3])
if #members > 0 then redis.call('HSET', KEYS[2], 'total', total) end
return dropped`

/** `redis://` or `rediss://`; `?cluster=true` for Redis Cluster. */
export async function openSharedCache(
  redisUrl: string | undefined,
  logger: Logger,
  patience: RedisTimeouts = {},
): Promise<SharedCache> {
  if (redisUrl === undefined) return noSharedCache
  const silence = 'redis does not answer; each replica caches alone'
  // The client is worth its memory only where there is a Redis.
  const { RedisConnection: Connection } = await import('./redis-connection.ts')
  const link = new Connection(redisUrl, { logger, silence }, patience)
  return new RedisSharedCache({ link, clock: systemClock })
}

/** Nothing is shared: each replica keeps its own answers. */
const noSharedCache: SharedCache = {
  get: () => Promise.resolve(undefined),
  set() {},
  dropGroup: () => Promise.resolve(0),
  ping: () => Promise.resolve(null),
  [Symbol.asyncDispose]: () => Promise.resolve(),
}

class RedisSharedCache implements SharedCache {
  readonly redisActivity: RedisActivity
  readonly #link: RedisConnection
  readonly #clock: Clock
  /** Indexes of groups that were dropped while Redis did not answer: their entries must not come back with it. */
  readonly #owedDrops = new Set<string>()

  constructor(deps: { link: RedisConnection; clock: Clock }) {
    this.#link = deps.link
    this.redisActivity = deps.link.activity
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
      client.eval(
        SET_SCRIPT,
        4,
        ...accountKeys(indexKey(key)),
        entryKey(key),
        indexKey(key),
        value,
        ttlMs,
        now,
        now + ttlMs,
        MAX_SITE_BYTES,
      ),
    )
  }

  async dropGroup(siteId: string, group: string): Promise<number> {
    const index = indexKey({ siteId, group })
    const dropped = await this.#attempt((client) => dropOf(client, index))
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
      await Promise.all(some.map((index) => dropOf(client, index)))
      for (const index of some) this.#owedDrops.delete(index)
    }
  }
}

const dropOf = (client: Redis | Cluster, index: string): Promise<unknown> =>
  client.eval(DROP_SCRIPT, 3, ...accountKeys(index), index)

/** The two keys of a site's account: its entries ordered by expiry, and their sizes. */
function accountKeys(index: string): [string, string] {
  const site = index.slice(0, index.indexOf('}') + 1)
  return [`${site}:entries`, `${site}:sizes`]
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
