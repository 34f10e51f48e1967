import type { SiteTx } from '#platform/postgres/database.ts'
import type { Site } from '#sites/site.ts'

/** What mail has to say when a user goes. */
export interface MailboxOwnership {
  /**
   * Passes the user's mailboxes to their other owners, in the transaction that deletes the user. Throws
   * `MailboxOwnershipConflict`, the mailboxes in `details`, when one would be left without an owner.
   */
  userDeleted(tx: SiteTx, site: Site, sub: string): Promise<void>
}
