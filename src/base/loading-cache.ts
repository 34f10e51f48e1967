import { LRUCache } from 'lru-cache'

import { Sampler } from './sampler.ts'

/** Bounds (`max`, `maxSize` with `sizeCalculation`), `ttl` in milliseconds and `dispose` as lru-cache defines them. */
interface LoadingCacheOptions<Key extends {}, Value> {
  readonly entries: LRUCache.Options<Key, NonNullable<Value>, unknown>
  /** Called with a key for which a load found nothing, unless it was invalidated during the load. */
  readonly onMissing?: (key: Key) => void
  /** Whether a value that is in doubt serves on when the load that was to confirm it fails with this. */
  readonly servesDespite?: (error: unknown) => boolean
}

/**
 * An LRU cache that loads what it lacks, one load per key at a time. A load that is invalidated while it runs still answers those
 * who wait for it, but its value is not kept and later callers load again. Failures are not kept, nor is undefined. A value in
 * doubt is not given out before a load has confirmed it.
 */
export class LoadingCache<Key extends {}, Value> {
  readonly #entries: LRUCache<Key, NonNullable<Value>>
  readonly #onMissing: ((key: Key) => void) | undefined
  readonly #servesDespite: ((error: unknown) => boolean) | undefined
  readonly #chance = new Sampler()
  /** The running loads whose values will be kept. */
  readonly #loads = new Map<Key, Promise<Value>>()
  readonly #doubted = new Set<Key>()

  constructor({ entries, onMissing, servesDespite }: LoadingCacheOptions<Key, Value>) {
    this.#entries = new LRUCache(entries)
    this.#onMissing = onMissing
    this.#servesDespite = servesDespite
  }

  /** What is kept; counts as a use. */
  getIfPresent(key: Key): NonNullable<Value> | undefined {
    return this.#isDoubted(key) ? undefined : this.#entries.get(key)
  }

  /** What is in doubt and may yet be confirmed. */
  doubted(key: Key): NonNullable<Value> | undefined {
    return this.#isDoubted(key) ? this.#entries.peek(key) : undefined
  }

  /**
   * The same for callers at every request: of so many calls one, by chance, counts as a use. To note each takes as long as to
   * find it.
   */
  glance(key: Key): NonNullable<Value> | undefined {
    if (this.#isDoubted(key)) return undefined
    return this.#chance.isSampled() ? this.#entries.get(key) : this.#entries.peek(key)
  }

  /** Synchronous when the value is kept. Rejects as `load` does. */
  get(key: Key, load: () => Promise<Value>): Value | Promise<Value> {
    return this.getIfPresent(key) ?? this.refresh(key, load)
  }

  /** Loads whether or not a value is kept, or joins the load that runs. A kept value serves until then. */
  refresh(key: Key, load: () => Promise<Value>): Promise<Value> {
    const running = this.#loads.get(key)
    if (running) return running
    const isCurrent = (): boolean => this.#loads.get(key) === loading
    const loading: Promise<Value> = load()
      .then(
        (value) => {
          if (isCurrent()) this.#keep(key, value)
          return value
        },
        (error: unknown) => this.#despite(error, key),
      )
      .finally(() => {
        if (isCurrent()) this.#loads.delete(key)
      })
    this.#loads.set(key, loading)
    return loading
  }

  set(key: Key, value: NonNullable<Value>): void {
    this.#loads.delete(key)
    this.#doubted.delete(key)
    this.#entries.set(key, value)
  }

  invalidate(key: Key): void {
    this.#loads.delete(key)
    this.#doubted.delete(key)
    this.#entries.delete(key)
  }

  invalidateAll(): void {
    this.#loads.clear()
    this.#doubted.clear()
    this.#entries.clear()
  }

  /** The value is loaded again before it is given out; a load that runs may confirm it. */
  doubt(key: Key): void {
    if (this.#entries.has(key)) this.#doubted.add(key)
  }

  /** Every value is loaded again before it is given out; what is being loaded is not kept. */
  doubtAll(): void {
    this.#loads.clear()
    this.#doubted.clear()
    for (const key of this.#entries.keys()) this.#doubted.add(key)
  }

  /** The set is empty as good as always. */
  #isDoubted(key: Key): boolean {
    return this.#doubted.size > 0 && this.#doubted.has(key)
  }

  #keep(key: Key, value: Value): void {
    if (this.#doubted.delete(key)) this.#entries.delete(key)
    if (value !== undefined && value !== null) this.#entries.set(key, value)
    else this.#onMissing?.(key)
  }

  #despite(error: unknown, key: Key): Value {
    const kept = this.doubted(key)
    if (kept === undefined || this.#servesDespite?.(error) !== true) throw error
    return kept
  }
}
