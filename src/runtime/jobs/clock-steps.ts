/** What two clocks may drift apart between two looks, and how late a busy process may look. */
const TOLERANCE_MS = 5000

/** Notices that a clock was set, beside one that only runs forward. */
export class ClockSteps {
  #last: { readonly wallMs: number; readonly steadyMs: number } | undefined

  /** By how many milliseconds the clock was set since the last look; 0 for not at all. */
  observe(wallMs: number, steadyMs: number): number {
    const last = this.#last
    this.#last = { wallMs, steadyMs }
    if (last === undefined) return 0
    const step = wallMs - last.wallMs - (steadyMs - last.steadyMs)
    return Math.abs(step) < TOLERANCE_MS ? 0 : Math.round(step)
  }
}
