import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'

import { type QueuedMessage, insertRecipients } from './queries.ts'

export type RecipientQueueDeps = Pick<PlatformServices, 'queue' | 'clock'>

/** Where messages wait for the gateway, for each recipient by itself. */
export class RecipientQueue {
  readonly #deps: RecipientQueueDeps

  constructor(deps: RecipientQueueDeps) {
    this.#deps = deps
  }

  /** In the caller's transaction, which has the raw messages. Suppressed recipients are noted and not queued. */
  async add(tx: SiteTx, messages: readonly QueuedMessage[]): Promise<void> {
    const { queue, clock } = this.#deps
    const { siteId } = tx
    const queued = await insertRecipients(tx, messages, clock.now())
    const jobs = queued.map(({ messageId, recipient }) => ({
      job: { siteId, messageId, recipient },
      group: domainOf(recipient),
    }))
    await queue.enqueueAll(tx, 'mail-delivery', jobs)
  }
}

const domainOf = (recipient: string): string =>
  recipient.slice(recipient.lastIndexOf('@') + 1).toLowerCase()
