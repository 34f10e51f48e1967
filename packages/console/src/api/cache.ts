import { type Signal, signal } from '@preact/signals'

import { type Problem, problemOf } from './problem.ts'

/** Younger content is shown without a call. */
const FRESH_MS = 5000
/** Of more, those that are unused longest are dropped. */
const MAX_UNUSED = 100

export interface CacheState {
  /** Undefined until the first response; then the last one, also while it is asked for again. */
  readonly value: unknown
  readonly problem: Problem | undefined
  readonly isLoading: boolean
  readonly isLoadingMore: boolean
}

/** Loads a value from the beginning; `previous` is what is on show. */
export type Load = (previous: unknown) => Promise<unknown>

export interface CacheEntry {
  readonly path: string
  readonly state: Signal<CacheState>
  readonly load: Load
  loadedAt: number
  users: number
  /** Of the load that counts: an older one that ends later is ignored. */
  turn: number
}

/** What the screens have read, by key. */
export class ResourceCache {
  readonly #entries = new Map<string, CacheEntry>()
  readonly #now: () => number

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  entry(key: string, path: string, load: Load): CacheEntry {
    const known = this.#entries.get(key)
    if (known) return known
    const state = signal<CacheState>({
      value: undefined,
      problem: undefined,
      isLoading: true,
      isLoadingMore: false,
    })
    const made = { path, state, load, loadedAt: -Infinity, users: 0, turn: 0 }
    this.#entries.set(key, made)
    return made
  }

  /** A component shows the entry from now on. Returns what ends that. */
  use(entry: CacheEntry): () => void {
    entry.users++
    if (this.#now() - entry.loadedAt > FRESH_MS) void this.reload(entry)
    return () => {
      entry.users--
      this.#dropUnused()
    }
  }

  async reload(entry: CacheEntry): Promise<void> {
    await this.change(entry, entry.load, { isLoading: true })
  }

  /** Puts in place what `load` resolves with, unless a later load of the entry has begun. */
  async change(
    entry: CacheEntry,
    load: Load,
    mark: { readonly isLoading: true } | { readonly isLoadingMore: true },
  ): Promise<void> {
    const turn = ++entry.turn
    const before = entry.state.peek()
    entry.state.value = { ...before, isLoading: false, isLoadingMore: false, ...mark }
    entry.loadedAt = this.#now()
    const result = await load(before.value).then(
      (value) => ({ value, problem: undefined }),
      (error: unknown) => ({ value: entry.state.peek().value, problem: problemOf(error) }),
    )
    if (entry.turn !== turn) return
    if (result.problem !== undefined) entry.loadedAt = -Infinity
    entry.state.value = { ...result, isLoading: false, isLoadingMore: false }
  }

  /** Reads again what is on show of these paths; the rest is read when it is shown. */
  invalidate(paths: readonly string[]): void {
    for (const [key, entry] of this.#entries) {
      if (!paths.includes(entry.path)) continue
      if (entry.users > 0) void this.reload(entry)
      else this.#entries.delete(key)
    }
  }

  /** Shows another value before the service has it. A reload puts it right. */
  update(paths: readonly string[], change: (value: unknown) => unknown): void {
    for (const entry of this.#entries.values()) {
      const { value } = entry.state.peek()
      if (!paths.includes(entry.path) || value === undefined) continue
      entry.state.value = { ...entry.state.peek(), value: change(value) }
    }
  }

  #dropUnused(): void {
    const unused = [...this.#entries].filter(([, entry]) => entry.users === 0)
    const oldestFirst = unused.toSorted(([, one], [, other]) => one.loadedAt - other.loadedAt)
    for (const [key] of oldestFirst.slice(0, -MAX_UNUSED)) this.#entries.delete(key)
  }
}
