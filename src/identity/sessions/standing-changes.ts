import type { Validities } from '#identity/tokens/validity.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { Notifications } from '#platform/postgres/notifications.ts'

/** Tells every replica, with the commit, that a user's tokens have to be looked at again. */
export class StandingChanges {
  readonly #notifications: Notifications
  readonly #validities: Validities

  constructor(deps: { notifications: Notifications; validities: Validities }) {
    this.#notifications = deps.notifications
    this.#validities = deps.validities
  }

  async announce(tx: SiteTx, sub: string): Promise<void> {
    const { siteId } = tx
    await this.#notifications.notify(tx, 'croft_tokens', { siteId, sub })
    tx.onCommit(() => this.#validities.userChanged(siteId, sub))
  }
}
