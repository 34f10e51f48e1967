import { LRUCache } from 'lru-cache'

import { Chance } from './chance.ts'

/** Bounds (`max`, `maxSize` with `sizeCalculation`), `ttl` in milliseconds and `dispose` as lru-cache defines them. */
interface LoadingCacheOptions<Key extends {}, Value> {
  readonly entries: LRUCache.Options<Key, NonNullable<Value>, unknown>
  /** Is told of a key for which a load found nothing, unless it was invalidated meanwhile. */
  readonly onMissing?: (key: Key) => void
}

/**
 * An LRU cache that loads what it lacks, one load per key at a time. A load that is invalidated while it runs still answers
 * those who wait for it, but its value is not kept and whoever asks later loads anew. Failures are not kept, nor is undefined.
 */
export class LoadingCache<Key extends {}, Value> {
  readonly #entries: LRUCache<Key, NonNullable<Value>>
  readonly #onMissing: ((key: Key) => void) | undefined
  readonly #chance = new Chance()
  /** The running loads whose values will be kept. */
  readonly #loads = new Map<Key, Promise<Value>>()

  constructor({ entries, onMissing }: LoadingCacheOptions<Key, Value>) {
    this.#entries = new LRUCache(entries)
    this.#onMissing = onMissing
  }

  /** What is kept; counts as a use. */
  getIfPresent(key: Key): NonNullable<Value> | undefined {
    return this.#entries.get(key)
  }

  /** The same for who asks at every request: of so many questions one, by chance, counts as a use. To note each takes as long as to find it. */
  glance(key: Key): NonNullable<Value> | undefined {
    return this.#chance.isTaken() ? this.#entries.get(key) : this.#entries.peek(key)
  }

  /** Synchronous when the value is kept. Rejects as `load` does. */
  get(key: Key, load: () => Promise<Value>): Value | Promise<Value> {
    return this.#entries.get(key) ?? this.refresh(key, load)
  }

  /** Loads whether or not a value is kept, or joins the load that runs. A kept value serves until then. */
  refresh(key: Key, load: () => Promise<Value>): Promise<Value> {
    const running = this.#loads.get(key)
    if (running) return running
    const isCurrent = (): boolean => this.#loads.get(key) === loading
    const loading: Promise<Value> = load()
      .then((value) => {
        if (isCurrent()) this.#keep(key, value)
        return value
      })
      .finally(() => {
        if (isCurrent()) this.#loads.delete(key)
      })
    this.#loads.set(key, loading)
    return loading
  }

  set(key: Key, value: NonNullable<Value>): void {
    this.#loads.delete(key)
    this.#entries.set(key, value)
  }

  invalidate(key: Key): void {
    this.#loads.delete(key)
    this.#entries.delete(key)
  }

  invalidateAll(): void {
    this.#loads.clear()
    this.#entries.clear()
  }

  #keep(key: Key, value: Value): void {
    if (value !== undefined && value !== null) this.#entries.set(key, value)
    else this.#onMissing?.(key)
  }
}
