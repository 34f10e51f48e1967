/** What was done, and what should not have happened. */
export class Tally {
  readonly counts = new Map<string, number>()
  readonly violations: string[] = []

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1)
  }

  violation(what: string): void {
    this.violations.push(what)
    console.error(`VIOLATION  ${new Date().toISOString()}  ${what}`)
  }
}

/** A request without an answer: that the service was killed is one reason, and its time is over another. */
export const isTimeout = (error: unknown): boolean =>
  error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError')
