import type { LimitedUse } from '#platform/rate-limits/rate-limiter.ts'
import { RATE_LIMITS } from '#platform/rate-limits/rate-limits.ts'

/** What a message to so many recipients uses of what its mailbox, and all of a site together, may send. */
export const sendingUses = (
  siteId: string,
  mailboxId: string,
  amount: number,
): readonly LimitedUse[] => [
  { limit: RATE_LIMITS.sendingMailboxPerMinute, siteId, of: mailboxId, amount },
  { limit: RATE_LIMITS.sendingSitePerMinute, siteId, amount },
]
