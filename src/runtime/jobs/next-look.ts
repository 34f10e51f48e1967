import { ClockSteps } from './clock-steps.ts'

/** The longest rest: the clock of a database on another machine may be set, and an older version tells nothing. */
const MAX_REST_MS = 10_000
/** How far two clocks may run apart in a rest, with room. */
const MARGIN_MS = 100

interface Look {
  readonly beganMs: number
  readonly changes: number
}

/** When due jobs must be looked for again: when the next one is due, and soon after anything may have changed that. */
export class NextLook {
  #atMs = -Infinity
  #changes = 0
  readonly #steps = new ClockSteps()

  /** Something may be due sooner than was found. */
  changed(): void {
    this.#changes += 1
    this.#atMs = -Infinity
  }

  /** By a clock that is set and one that only runs forward. */
  isDue(wallMs: number, steadyMs: number): boolean {
    if (this.#steps.observe(wallMs, steadyMs) !== 0) this.changed()
    return steadyMs >= this.#atMs
  }

  /** To be called before the database is asked. */
  begin(steadyMs: number): Look {
    return { beganMs: steadyMs, changes: this.#changes }
  }

  /** The time of the database that the look saw, and when the next job is due by it. */
  found({ beganMs, changes }: Look, now: Date, dueAt: Date | undefined): void {
    // What has changed since the look began it may not have seen.
    if (changes !== this.#changes) return
    const restMs = dueAt === undefined ? Infinity : dueAt.getTime() - now.getTime() - MARGIN_MS
    this.#atMs = beganMs + Math.min(restMs, MAX_REST_MS)
  }
}
