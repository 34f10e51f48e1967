import { setImmediate as turn } from 'node:timers/promises'

import type { Actor } from '#base/actor.ts'
import { notFound } from '#base/app-error.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'
import { localPartAt } from '#mail/addresses/local-part.ts'
import { noteMailboxChange } from '#mail/changes/note.ts'
import type { BulkPurgeResult, MassPurgeResult } from '#mail/messages/model.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { Site } from '#sites/site.ts'

import {
  type PurgeFilter,
  type PurgedMessage,
  countPurgeable,
  deleteMessages,
  deleteUnusedRaws,
  lockCounts,
  selectCandidates,
  selectMailboxId,
  selectPurgeable,
  subtractCounts,
} from './purge-queries.ts'

/** Messages of one transaction. */
const BATCH = 200
/** How long one request purges; the next one goes on. */
const MASS_PURGE_MS = 20_000

export interface BulkPurge {
  readonly messageIds: readonly string[]
  readonly force: boolean
}

export interface MassPurge {
  readonly filter: PurgeFilter
  readonly dryRun: boolean
}

/** Deletes messages permanently: rows and counts at once, in batches; a job removes their objects afterwards. */
export class MailPurge {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'database' | 'notifications' | 'queue' | 'clock'> & {
      readonly events: Pick<SecurityEvents, 'record'>
    },
  ) {
    this.#deps = deps
  }

  /** Removes the bytes of a message that is in no mailbox any more, once it has no recipient waiting. */
  async dropUnused(tx: SiteTx, rawId: string): Promise<void> {
    const { siteId } = tx
    if (!(await deleteUnusedRaws(tx, [rawId]))) return
    await this.#deps.queue.enqueue(tx, 'mail-removal', { siteId }, { singletonKey: siteId })
  }

  /** Of a message that was forwarded: it goes unless it has been filed elsewhere since. */
  async letGo(tx: SiteTx, messageId: string): Promise<void> {
    const filter = { state: 'received' } as const
    await this.#delete(tx, await selectCandidates(tx, [messageId]), filter)
  }

  /** From any folder. 404 `MessageNotFound`. */
  async purge(site: Site, by: Actor, messageId: string): Promise<void> {
    const { purged } = await this.purgeMany(site, by, { messageIds: [messageId], force: true })
    if (purged.length === 0) throw notFound('Message', messageId)
  }

  /** Without `force` only what is in the trash or deleted. */
  async purgeMany(site: Site, by: Actor, asked: BulkPurge): Promise<BulkPurgeResult> {
    const messageIds = [...new Set(asked.messageIds)]
    const purged = new Set<string>()
    const there = new Set<string>()
    for (let first = 0; first < messageIds.length; first += BATCH) {
      await this.#deps.database.withSite(site.siteId, async (tx) => {
        const candidates = await selectCandidates(tx, messageIds.slice(first, first + BATCH))
        for (const { messageId } of candidates) there.add(messageId)
        const gone = await this.#delete(tx, candidates, asked.force ? {} : { state: 'trashed' })
        for (const { messageId } of gone) purged.add(messageId)
      })
    }
    await this.#record(site, by, purged.size)
    return {
      purged: messageIds.filter((id) => purged.has(id)),
      failed: messageIds.filter((id) => !purged.has(id)).map((id) => failureOf(id, there.has(id))),
    }
  }

  /** The id of a mailbox of the site: 404 `MailboxNotFound`. */
  async mailboxIdOf(site: Site, address: string): Promise<string> {
    const localPart = localPartAt(site.domain, address)
    const mailboxId =
      localPart === undefined
        ? undefined
        : await this.#deps.database.withSite(site.siteId, (tx) => selectMailboxId(tx, localPart))
    if (mailboxId === undefined) throw notFound('Mailbox', address)
    return mailboxId
  }

  /** As much as one request has time for: `failedCount` says how many are left. */
  async purgeMatching(site: Site, by: Actor, asked: MassPurge): Promise<MassPurgeResult> {
    const { database, clock } = this.#deps
    const { filter, dryRun } = asked
    const matchedCount = await database.withSite(site.siteId, (tx) => countPurgeable(tx, filter))
    if (dryRun) return { matchedCount, deletedCount: 0, failedCount: 0, dryRun }
    const endsAt = clock.now().getTime() + MASS_PURGE_MS
    const deletedCount = await this.deleteMatching(
      site.siteId,
      filter,
      () => clock.now().getTime() < endsAt,
    )
    await this.#record(site, by, deletedCount)
    return {
      matchedCount: Math.max(matchedCount, deletedCount),
      deletedCount,
      failedCount: Math.max(matchedCount - deletedCount, 0),
      dryRun,
    }
  }

  /** In batches, as long as `goesOn` says so. Returns how many. */
  async deleteMatching(
    siteId: string,
    filter: PurgeFilter,
    goesOn: () => boolean,
  ): Promise<number> {
    let deleted = 0
    let after = ''
    do {
      const from = after
      const page = await this.#deps.database.withSite(siteId, async (tx) => {
        const candidates = await selectPurgeable(tx, filter, { limit: BATCH, after: from })
        deleted += (await this.#delete(tx, candidates, filter)).length
        return candidates
      })
      after = page.at(-1)?.messageId ?? ''
      if (page.length < BATCH) return deleted
      await turn()
    } while (goesOn())
    return deleted
  }

  async #delete(
    tx: SiteTx,
    candidates: readonly { readonly messageId: string; readonly mailboxId: string }[],
    filter: PurgeFilter,
  ): Promise<readonly PurgedMessage[]> {
    if (candidates.length === 0) return []
    await lockCounts(tx, [...new Set(candidates.map(({ mailboxId }) => mailboxId))])
    const ids = candidates.map(({ messageId }) => messageId)
    const gone = await deleteMessages(tx, ids, filter)
    if (gone.length === 0) return gone
    await deleteUnusedRaws(tx, [...new Set(gone.map(({ rawId }) => rawId))])
    for (const [mailboxId, removed] of countsOf(gone)) {
      await subtractCounts(tx, mailboxId, removed)
      await noteMailboxChange(this.#deps.notifications, tx, mailboxId)
    }
    const { siteId } = tx
    await this.#deps.queue.enqueue(tx, 'mail-removal', { siteId }, { singletonKey: siteId })
    return gone
  }

  async #record(site: Site, by: Actor, messages: number): Promise<void> {
    if (messages === 0) return
    await this.#deps.database.withSite(site.siteId, (tx) =>
      this.#deps.events.record(tx, {
        event: 'messages.purged',
        pool: 'admin',
        by,
        detail: { messages },
      }),
    )
  }
}

function failureOf(messageId: string, isThere: boolean): BulkPurgeResult['failed'][number] {
  return isThere
    ? {
        messageId,
        code: 'MessageNotInTrash',
        message: 'The message is neither in the trash nor deleted: send "force": true to purge it',
      }
    : { messageId, code: 'MessageNotFound', message: `Message "${messageId}" does not exist` }
}

/** By mailbox, in the order of their ids. */
function countsOf(gone: readonly PurgedMessage[]) {
  const counts = new Map<string, { bytes: number; messages: number }>()
  for (const { mailboxId, sizeBytes } of gone) {
    const { bytes, messages } = counts.get(mailboxId) ?? { bytes: 0, messages: 0 }
    counts.set(mailboxId, { bytes: bytes + Number(sizeBytes), messages: messages + 1 })
  }
  return [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1))
}
