import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'

import type { SyncState, SyncStatus } from './model.ts'
import {
  countChange,
  deleteRevisionsBefore,
  insertPublishedState,
  insertRevision,
  insertState,
  lockState,
  selectCurrent,
  selectLatestRevision,
  selectState,
  updateState,
} from './queries.ts'

const FIRST_REVISION = 1

/** The numbered, immutable revisions of each site, and how far behind the control plane they are. */
export class Revisions {
  readonly #deps

  constructor(deps: Pick<PlatformServices, 'database' | 'queue' | 'notifications' | 'clock'>) {
    this.#deps = deps
  }

  /**
   * Asks for a revision with this transaction's changes in it. Call it once, before the changes: its row lock makes a
   * site's changes happen one after the other.
   */
  async request(tx: SiteTx): Promise<SyncState> {
    const state = await countChange(tx, this.#deps.clock.now())
    await this.#deps.queue.enqueue(
      tx,
      'permission-sync',
      { siteId: tx.siteId },
      { singletonKey: tx.siteId },
    )
    return state
  }

  /** Serializes a site's changes without requesting a revision: the writer requests one later. */
  async lock(tx: SiteTx): Promise<void> {
    await insertState(tx, this.#deps.clock.now())
    await lockState(tx)
  }

  /** Undefined for a site that was never provisioned. */
  state(tx: SiteTx): Promise<SyncState | undefined> {
    return selectState(tx)
  }

  /** Publishes the revision of a site that was created in this transaction. */
  async publishFirst(tx: SiteTx, document: object): Promise<void> {
    const now = this.#deps.clock.now()
    await insertRevision(tx, FIRST_REVISION, document, now)
    await insertPublishedState(tx, FIRST_REVISION, now)
    const revision = { siteId: tx.siteId, revision: FIRST_REVISION }
    await this.#deps.notifications.notify(tx, 'croft_revision', revision)
  }

  /** Marks the sync as running. The state is locked, so every change it counts is visible to this transaction. */
  async begin(tx: SiteTx): Promise<SyncState | undefined> {
    const state = await lockState(tx)
    if (!state || state.synced >= state.requested) return undefined
    await updateState(tx, { status: 'running', error: null }, this.#deps.clock.now())
    return state
  }

  /** Writes the next revision, unless a newer one is there already, and tells the replicas. True when changes came in between. */
  publish(
    siteId: string,
    {
      synced,
      document,
      error,
    }: Pick<SyncState, 'synced' | 'error'> & { readonly document: object },
  ): Promise<boolean> {
    const now = this.#deps.clock.now()
    return this.#deps.database.withSite(siteId, async (tx) => {
      const state = await lockState(tx)
      if (!state || state.synced >= synced) return false
      const revision = ((await selectLatestRevision(tx)) ?? 0) + 1
      await insertRevision(tx, revision, document, now)
      const behind = state.requested > synced
      const status = outcome(behind, error)
      await updateState(tx, { status, error }, now, { revision, synced })
      // An older one is not read, and what was deleted since is still in it.
      await deleteRevisionsBefore(tx, revision)
      await this.#deps.notifications.notify(tx, 'croft_revision', { siteId, revision })
      return behind
    })
  }

  /** Says why no revision could be made. The earlier one stays current. */
  fail(siteId: string, reason: string): Promise<void> {
    return this.#deps.database.withSite(siteId, async (tx) => {
      const state = await lockState(tx)
      if (!state || state.synced >= state.requested) return
      await updateState(tx, { status: 'failed', error: reason }, this.#deps.clock.now())
    })
  }

  /** It may be newer than a state that was read before. Undefined before the first revision. */
  current(
    tx: SiteTx,
  ): Promise<{ readonly revision: number; readonly document: unknown } | undefined> {
    return selectCurrent(tx)
  }
}

function outcome(behind: boolean, error: string | null): SyncStatus {
  if (behind) return 'queued'
  return error === null ? 'succeeded' : 'failed'
}
