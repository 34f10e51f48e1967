import { AppError } from '#base/app-error.ts'
import type { MailTransfer } from '#mail/removal/mail-transfer.ts'
import type { Database } from '#platform/postgres/database.ts'

import type { ArchiveHeader } from './archive-format.ts'
import { type KeptNames, rawIdOf } from './object-entries.ts'

/** Messages have their times from the clocks of processes, a snapshot from that of the database. */
const CLOCKS_APART_MS = 60_000

/** The stored messages of a site that is exported, as they are found after its snapshot. */
export class LeavingMail {
  readonly #siteId: string
  readonly #deps: { readonly database: Database; readonly mailTransfer: MailTransfer }
  #left = 0

  constructor(
    siteId: string,
    deps: { readonly database: Database; readonly mailTransfer: MailTransfer },
  ) {
    this.#siteId = siteId
    this.#deps = deps
  }

  /** Leaves out what belongs to no message: uploads for messages that are not sent yet, and leftovers. */
  readonly kept: KeptNames = async (names) => {
    const { database, mailTransfer } = this.#deps
    const rawIds = [...new Set(names.map(messageOf))]
    const known = await database.withSite(this.#siteId, (tx) => mailTransfer.known(tx, rawIds))
    const kept = names.filter((name) => known.has(messageOf(name)))
    this.#left += kept.filter((name) => rawIdOf({ kind: 'mail', name }) !== undefined).length
    return kept
  }

  /** Whether every message of the snapshot was still there. */
  async check(snapshotCount: number, { exportedAt }: ArchiveHeader): Promise<void> {
    const { database, mailTransfer } = this.#deps
    const until = new Date(new Date(exportedAt).getTime() + CLOCKS_APART_MS)
    const stillThere = await database.withSite(this.#siteId, (tx) => mailTransfer.count(tx, until))
    if (Math.min(this.#left, stillThere) >= snapshotCount) return
    throw new AppError(
      'ServiceUnavailable',
      'Messages of the site were purged while it was exported: export it again',
      { retryAfterSeconds: 1 },
    )
  }
}

const messageOf = (name: string): string => name.split('/', 1)[0] ?? ''
