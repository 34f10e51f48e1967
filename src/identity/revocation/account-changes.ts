import type { SiteTx } from '#platform/postgres/database.ts'
import type { Notifications } from '#platform/postgres/notifications.ts'

import type { RevocationStates } from './revocation-states.ts'

/** Tells every replica, with the commit, that a user's tokens have to be looked at again. */
export class AccountChanges {
  readonly #notifications: Notifications
  readonly #validities: RevocationStates

  constructor(deps: { notifications: Notifications; validities: RevocationStates }) {
    this.#notifications = deps.notifications
    this.#validities = deps.validities
  }

  async announce(tx: SiteTx, sub: string): Promise<void> {
    const { siteId } = tx
    await this.#notifications.notify(tx, 'croft_tokens', { siteId, sub })
    tx.onCommit(() => this.#validities.userChanged(siteId, sub))
  }
}
