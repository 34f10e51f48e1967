/** What is doubled with every step, in milliseconds: `baseMs` at step 0, and never over `maxMs`. */
export const doubledMs = (baseMs: number, steps: number, maxMs: number): number =>
  Math.min(maxMs, baseMs * 2 ** Math.min(steps, 30))

/** Exponential delay with full jitter, in milliseconds: attempt 1 waits up to `baseMs`, each further one twice as long, never over `maxMs`. */
export function backoffMs(
  attempt: number,
  { baseMs = 100, maxMs = 30_000, random = Math.random } = {},
): number {
  return Math.round(doubledMs(baseMs, attempt - 1, maxMs) * random())
}
