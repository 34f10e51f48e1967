import { host } from './host.ts'
import { dateNow, max } from './primordials.ts'

let origin: number | undefined
let latest = 0

/** Epoch milliseconds of a moment just before this context began: nothing happens at zero. */
export function clockOrigin(): number {
  origin ??= host.now() - 1
  return origin
}

/**
 * Milliseconds since the origin, in whole ones as `Date.now()` counts them, but never back. A finer clock would help to
 * measure what other sites do to the processor's caches.
 */
export function clockNow(): number {
  const start = clockOrigin()
  latest = max(latest, dateNow() - start)
  return latest
}
