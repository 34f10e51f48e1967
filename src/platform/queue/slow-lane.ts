import { LRUCache } from 'lru-cache'

/** How long it is remembered how fast the last job of a group was. */
const REMEMBERED_MS = 600_000
const MAX_GROUPS = 1000

type Pace = 'slow' | 'quick'

/**
 * Places for jobs that take long, so that they hold none of the others. A group of which no quick job is known runs one job at a
 * time: it holds one place while it is found out, and one of these when it is slow.
 */
export class SlowLane {
  readonly afterMs: number
  readonly #places: number
  #held = 0
  readonly #paces = new LRUCache<string, Pace>({ max: MAX_GROUPS, ttl: REMEMBERED_MS })
  readonly #running = new Map<string, number>()

  constructor({ afterMs, places }: { readonly afterMs: number; readonly places: number }) {
    this.afterMs = afterMs
    this.#places = places
  }

  /** The groups of which no other job may begin now. */
  get skipped(): readonly string[] {
    const isFull = this.#held >= this.#places
    const slow = isFull ? [...this.#paces].filter(([, pace]) => pace === 'slow') : []
    const running = [...this.#running.keys()].filter((each) => this.#paces.get(each) !== 'quick')
    return [...new Set([...slow.map(([group]) => group), ...running])]
  }

  isSlow(group: string | null): boolean {
    return group !== null && this.#paces.get(group) === 'slow'
  }

  begin(group: string | null): void {
    if (group !== null) this.#running.set(group, (this.#running.get(group) ?? 0) + 1)
  }

  end(group: string | null): void {
    if (group === null) return
    const left = (this.#running.get(group) ?? 0) - 1
    if (left > 0) this.#running.set(group, left)
    else this.#running.delete(group)
  }

  note(group: string | null, pace: Pace): void {
    if (group !== null) this.#paces.set(group, pace)
  }

  /** False when all places are held. */
  tryHold(): boolean {
    if (this.#held >= this.#places) return false
    this.#held += 1
    return true
  }

  letGo(): void {
    this.#held -= 1
  }
}
