import {
  mailPrefix,
  partIdOfKey,
  partsPrefix,
  rawIdOfKey,
  rawKey,
} from '#mail/objects/mail-keys.ts'
import type { MailReparsing } from '#mail/reparsing/mail-reparsing.ts'
import { objectPages } from '#platform/objects/object-pages.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { SiteDataRemover } from '#sites/site-cleanup.ts'

import { deleteUnusedRaws } from './purge-queries.ts'
import type { MailPurge } from './purge.ts'
import {
  deleteExpiredDeliveries,
  deleteMessagesOf,
  deleteRemoved,
  deleteSomeOfSite,
  deleteTracesOf,
  hasMailbox,
  selectExpiringTrash,
  selectGoneMailbox,
  selectListedParts,
  selectRaws,
  selectRemoved,
} from './removal-queries.ts'

const ROWS = 500
const RAWS = 100
const LIST_PAGE = 1000
const DELETES_AT_ONCE = 16
const DAY_MS = 24 * 3_600_000
const UPKEEP_SECONDS = 6 * 3600

interface RemovalJob {
  readonly siteId: string
  readonly upkeep?: boolean
}

/**
 * The handler of the queue `mail-removal`: removes messages of mailboxes that are gone, and the objects of messages that
 * are; rows go first, so that no message is without its bytes. As upkeep, every six hours while the site has a mailbox, it
 * also empties trash that is to empty itself, looks for objects that never got a row or that no row names any more, and for
 * messages that an earlier version parsed. Running it twice is fine.
 */
export class MailRemoval implements SiteDataRemover {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'database' | 'queue' | 'objects' | 'clock'> & {
      readonly mailPurge: Pick<MailPurge, 'deleteMatching'>
      readonly mailReparsing: Pick<MailReparsing, 'queueUp'>
    },
  ) {
    this.#deps = deps
  }

  async run({ siteId, upkeep = false }: RemovalJob, signal: AbortSignal): Promise<void> {
    if (upkeep) {
      await this.purgeExpiredTrash(siteId, signal)
      await this.sweepOrphans(siteId, signal)
      await this.#deps.database.withSite(siteId, (tx) => this.#deps.mailReparsing.queueUp(tx))
    }
    await this.#removeGoneMailboxes(siteId, signal)
    await this.#forgetDeliveries(siteId, signal)
    await this.#removeObjects(siteId, signal)
    await this.#planUpkeep(siteId)
  }

  /** Counts from when a message went to the trash: for one that was restored and deleted again from the last time. */
  async purgeExpiredTrash(siteId: string, signal: AbortSignal): Promise<void> {
    const { database, mailPurge, clock } = this.#deps
    const mailboxes = await database.withSite(siteId, selectExpiringTrash)
    for (const { mailboxId, retentionDays } of mailboxes) {
      const trashedBefore = new Date(clock.now().getTime() - retentionDays * DAY_MS)
      const filter = { mailboxId, state: 'trashed' as const, trashedBefore }
      await mailPurge.deleteMatching(siteId, filter, () => !signal.aborted)
      signal.throwIfAborted()
    }
  }

  /**
   * Removes objects older than a day that have no row: their message was not accepted after all. And attachments that a message no
   * longer lists since it was parsed again a day ago: the last URL to them has expired.
   */
  async sweepOrphans(siteId: string, signal: AbortSignal): Promise<void> {
    const { objects, database, clock } = this.#deps
    const before = clock.now().getTime() - DAY_MS
    signal.throwIfAborted()
    for await (const page of objectPages(objects, mailPrefix(siteId))) {
      signal.throwIfAborted()
      const old = page.filter(({ lastModified }) => lastModified.getTime() < before)
      const rawIds = [...new Set(old.map(({ key }) => rawIdOfKey(siteId, key)))]
      const there = await database.withSite(siteId, (tx) => selectRaws(tx, rawIds))
      const orphans = old.filter(({ key }) => !there.has(rawIdOfKey(siteId, key)))
      const unlisted = await this.#unlistedParts(siteId, old, new Date(before))
      await this.#deleteAll(
        [...orphans, ...unlisted].map(({ key }) => key),
        signal,
      )
    }
  }

  async #unlistedParts<Listed extends { readonly key: string }>(
    siteId: string,
    old: readonly Listed[],
    before: Date,
  ): Promise<readonly Listed[]> {
    const parts = old.filter(({ key }) => partIdOfKey(siteId, key) !== undefined)
    const rawIds = [...new Set(parts.map(({ key }) => rawIdOfKey(siteId, key)))]
    const listed = await this.#deps.database.withSite(siteId, (tx) =>
      selectListedParts(tx, rawIds, before),
    )
    return parts.filter(({ key }) => {
      const partId = partIdOfKey(siteId, key)
      const ofRaw = listed.get(rawIdOfKey(siteId, key))
      return partId !== undefined && ofRaw !== undefined && !ofRaw.has(partId)
    })
  }

  /** The rows of a site that is gone. Its objects go with all others of the site. */
  async removeSite(siteId: string, signal: AbortSignal): Promise<void> {
    const { database } = this.#deps
    for (let more = true; more;) {
      signal.throwIfAborted()
      more = await database.withSite(siteId, (tx) => deleteSomeOfSite(tx, ROWS))
    }
  }

  async #removeGoneMailboxes(siteId: string, signal: AbortSignal): Promise<void> {
    const { database } = this.#deps
    for (;;) {
      const mailboxId = await database.withSite(siteId, selectGoneMailbox)
      if (mailboxId === undefined) return
      for (let more = true; more;) {
        signal.throwIfAborted()
        more = await database.withSite(siteId, async (tx) => {
          const rawIds = await deleteMessagesOf(tx, mailboxId, ROWS)
          await deleteUnusedRaws(tx, [...new Set(rawIds)])
          if (rawIds.length < ROWS) await deleteTracesOf(tx, mailboxId)
          return rawIds.length === ROWS
        })
      }
    }
  }

  async #forgetDeliveries(siteId: string, signal: AbortSignal): Promise<void> {
    const { database, clock } = this.#deps
    for (let deleted = ROWS; deleted === ROWS;) {
      signal.throwIfAborted()
      deleted = await database.withSite(siteId, (tx) =>
        deleteExpiredDeliveries(tx, clock.now(), ROWS),
      )
    }
  }

  /** Of each raw message all objects, then the note that they are to go. */
  async #removeObjects(siteId: string, signal: AbortSignal): Promise<void> {
    const { database } = this.#deps
    for (;;) {
      const rawIds = await database.withSite(siteId, (tx) => selectRemoved(tx, RAWS))
      if (rawIds.length === 0) return
      for (const rawId of rawIds) await this.#removeObjectsOf(siteId, rawId, signal)
      await database.withSite(siteId, (tx) => deleteRemoved(tx, rawIds))
    }
  }

  async #removeObjectsOf(siteId: string, rawId: string, signal: AbortSignal): Promise<void> {
    const prefix = partsPrefix(siteId, rawId)
    for (let more = true; more;) {
      const page = await this.#deps.objects.list({ prefix, maxKeys: LIST_PAGE })
      await this.#deleteAll(
        page.objects.map(({ key }) => key),
        signal,
      )
      more = page.continuation !== undefined
    }
    await this.#deps.objects.delete(rawKey(siteId, rawId))
  }

  async #deleteAll(keys: readonly string[], signal: AbortSignal): Promise<void> {
    for (let first = 0; first < keys.length; first += DELETES_AT_ONCE) {
      signal.throwIfAborted()
      const some = keys.slice(first, first + DELETES_AT_ONCE)
      await Promise.all(some.map((key) => this.#deps.objects.delete(key)))
    }
  }

  async #planUpkeep(siteId: string): Promise<void> {
    const { database, queue } = this.#deps
    await database.withSite(siteId, async (tx) => {
      if (!(await hasMailbox(tx))) return
      await queue.enqueue(
        tx,
        'mail-removal',
        { siteId, upkeep: true },
        // A key of its own: what is to be removed now does not wait for it.
        { singletonKey: `${siteId} upkeep`, startAfterSeconds: UPKEEP_SECONDS },
      )
    })
  }
}
