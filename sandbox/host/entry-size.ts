/** Calls are begun one at a time until the function has shown that it behaves. */
const PROVEN_AFTER = 8
const MAX_CALLS_PER_ENTRY = 64

/** How many calls of a function are begun in one entry: as many as need a quarter of what one may compute. */
export class EntrySize {
  #begun = 0
  #callMs = 0

  note(calls: number, cpuMs: number): void {
    this.#begun += calls
    this.#callMs += (cpuMs / calls - this.#callMs) / 16
  }

  next(limitMs: number): number {
    if (this.#begun < PROVEN_AFTER) return 1
    const room = limitMs / 4 / Math.max(this.#callMs, 0.01)
    return Math.min(MAX_CALLS_PER_ENTRY, Math.max(1, Math.floor(room)))
  }
}
