import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'

import { countRaws, selectRaws } from './removal-queries.ts'

/** What belongs to the messages of a site that moves. */
export class MailTransfer {
  readonly #queue: PlatformServices['queue']

  constructor({ queue }: Pick<PlatformServices, 'queue'>) {
    this.#queue = queue
  }

  /** Those of the raw messages that have a row. */
  known(tx: SiteTx, rawIds: readonly string[]): Promise<ReadonlySet<string>> {
    return selectRaws(tx, rawIds)
  }

  /** Raw messages, with `until` only those that were received by then. */
  count(tx: SiteTx, until?: Date): Promise<number> {
    return countRaws(tx, until)
  }

  /** What was about to be parsed is parsed where it came to, and what is old is purged there. */
  async arrived(tx: SiteTx): Promise<void> {
    const { siteId } = tx
    await this.#queue.enqueue(tx, 'mail-parse', { siteId }, { singletonKey: siteId })
    await this.#queue.enqueue(tx, 'mail-removal', { siteId }, { singletonKey: siteId })
  }
}
