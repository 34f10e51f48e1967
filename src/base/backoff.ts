/** Exponential delay with full jitter, in milliseconds: attempt 1 waits up to `baseMs`, each further one twice as long, never over `maxMs`. */
export function backoffMs(
  attempt: number,
  { baseMs = 100, maxMs = 30_000, random = Math.random } = {},
): number {
  const ceiling = Math.min(maxMs, baseMs * 2 ** Math.min(attempt - 1, 30))
  return Math.round(ceiling * random())
}
