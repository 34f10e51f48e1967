import type { Installation } from './installation.ts'

/** A site that takes as much as it is given. */
export interface Neighbour {
  readonly name: string
  /** Begins once its site is made; what it gives ends the work and says what was done. */
  start(installation: Installation): Promise<() => Promise<string>>
}

/** What happened how often, as text. */
export class Outcomes {
  readonly #counts = new Map<string, number>()

  count(what: string, times = 1): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + times)
  }

  toString(): string {
    return [...this.#counts].map(([what, times]) => `${what} ${times}`).join(', ')
  }
}
