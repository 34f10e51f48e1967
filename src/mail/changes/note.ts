import type { SiteTx } from '#platform/postgres/database.ts'
import type { Notifications } from '#platform/postgres/notifications.ts'

/** Tells those who follow the mailbox, with the transaction's commit, that it has news. */
export const noteMailboxChange = (
  notifications: Pick<Notifications, 'notify'>,
  tx: SiteTx,
  mailboxId: string,
): Promise<void> => notifications.notify(tx, 'croft_mail', { siteId: tx.siteId, mailboxId })
