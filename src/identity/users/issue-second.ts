import { setTimeout as delay } from 'node:timers/promises'

import type { Clock } from '#base/clock.ts'

import { issueSecond } from './model.ts'

/** Clocks of two replicas may differ: what one of them revoked does not hold up the other for longer. */
const MAX_WAIT_MS = 1000

/**
 * The `iat` of a token that is made now. A token of the second of a revocation counts as revoked, and one that is ahead of
 * its reader's clock is refused by clients: right after a revocation the next second is waited for.
 */
export async function secondToIssue(clock: Clock, tokensValidAfter: Date): Promise<number> {
  const now = clock.now()
  const second = issueSecond(now, tokensValidAfter)
  const aheadMs = second * 1000 - now.getTime()
  // Timers are up to a millisecond early.
  if (aheadMs > 0) await delay(Math.min(aheadMs, MAX_WAIT_MS) + 1)
  return second
}
