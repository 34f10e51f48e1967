import type { SiteTx } from '#platform/postgres/database.ts'
import type { Notifications } from '#platform/postgres/notifications.ts'

import type { RevocationStates } from './revocation-states.ts'

/** What this process remembers of sites' pools. */
interface PoolCache {
  forget(siteId: string): void
  forgetAll(): void
}

/** Makes every replica look again, from the commit on, at what a change of a user or of a site may have taken away. */
export class AccountChanges {
  readonly #deps

  constructor(deps: {
    readonly notifications: Notifications
    readonly revocationStates: RevocationStates
    readonly directory: PoolCache
  }) {
    this.#deps = deps
  }

  /** The user's tokens are verified again. */
  async userChanged(tx: SiteTx, sub: string): Promise<void> {
    const { siteId } = tx
    await this.#deps.notifications.notify(tx, 'croft_tokens', { siteId, sub })
    tx.onCommit(() => this.#deps.revocationStates.userChanged(siteId, sub))
  }

  /** The site's pools are read again, and every token of its users is verified again. */
  async siteChanged(tx: SiteTx): Promise<void> {
    const { siteId } = tx
    await this.#deps.notifications.notify(tx, 'croft_tokens', { siteId })
    tx.onCommit(() => this.#siteChanged(siteId))
  }

  /** Listens for the changes that other replicas announce. */
  listen(): Promise<void> {
    return this.#deps.notifications.listen('croft_tokens', {
      onMessage: ({ siteId, sub }) => {
        if (sub === undefined) this.#siteChanged(siteId)
        else this.#deps.revocationStates.userChanged(siteId, sub)
      },
      onDoubt: () => {
        this.#deps.directory.forgetAll()
        this.#deps.revocationStates.allChanged()
      },
    })
  }

  #siteChanged(siteId: string): void {
    this.#deps.directory.forget(siteId)
    this.#deps.revocationStates.siteChanged(siteId)
  }
}
