import type { RedisActivity } from './redis-activity.ts'

/**
 * A cache that replicas share: Redis when `REDIS_URL` is set, else nothing is shared and each replica has its own LRU.
 * It is never the truth: every method resolves, and a Redis that is slow or gone is a miss.
 */
export interface SharedCache extends AsyncDisposable {
  /** Undefined when no Redis is configured. */
  readonly redisActivity?: RedisActivity
  /** Undefined on a miss, on a fault, and after 200 ms. */
  get(key: CacheKey): Promise<CacheEntry | undefined>
  set(key: CacheKey, body: string, ttlSeconds: number): void
  /** Drops every entry of the group and says how many were alive. */
  dropGroup(siteId: string, group: string): Promise<number>
  /** Null when no Redis is configured; `/readyz` names a Redis that is configured and does not answer. */
  ping(): Promise<'ok' | 'down' | null>
}

export interface CacheKey {
  readonly siteId: string
  /** Entries that are dropped together: an operation and its version. */
  readonly group: string
  /** Any text; hashed before it becomes part of a Redis key. */
  readonly entry: string
}

export interface CacheEntry {
  readonly body: string
  readonly storedAt: Date
  readonly expiresAt: Date
}
