import type { MailParsing } from '#mail/parsing/mail-parsing.ts'
import type { MailReparsing } from '#mail/reparsing/mail-reparsing.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'

import { countRaws, selectRaws } from './removal-queries.ts'

/** What belongs to the messages of a site that moves. */
export class MailTransfer {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'queue'> & {
      readonly mailParsing: Pick<MailParsing, 'queueUp'>
      readonly mailReparsing: Pick<MailReparsing, 'queueUp'>
    },
  ) {
    this.#deps = deps
  }

  /** Those of the raw messages that have a row. */
  known(tx: SiteTx, rawIds: readonly string[]): Promise<ReadonlySet<string>> {
    return selectRaws(tx, rawIds)
  }

  /** Raw messages, with `until` only those that were received by then. */
  count(tx: SiteTx, until?: Date): Promise<number> {
    return countRaws(tx, until)
  }

  /** What was about to be parsed, or that an earlier version parsed, is parsed where it came to, and what is old is purged there. */
  async arrived(tx: SiteTx): Promise<void> {
    const { siteId } = tx
    const { mailParsing, mailReparsing, queue } = this.#deps
    await mailParsing.queueUp(tx)
    await mailReparsing.queueUp(tx)
    await queue.enqueue(tx, 'mail-removal', { siteId }, { singletonKey: siteId })
  }
}
