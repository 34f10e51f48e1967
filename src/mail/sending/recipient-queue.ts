import { domainOf } from '#mail/routing/outgoing-places.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'

import { type QueuedMessage, insertRecipients } from './queries.ts'

const TOGETHER_SECONDS = 2

/** Where messages wait for the gateway, for each recipient by itself. */
export class RecipientQueue {
  readonly #deps

  constructor(deps: Pick<PlatformServices, 'queue' | 'clock'>) {
    this.#deps = deps
  }

  /** In the caller's transaction, which has the raw messages. Suppressed recipients are not sent to, and reported. */
  async add(tx: SiteTx, messages: readonly QueuedMessage[]): Promise<void> {
    const { queue, clock } = this.#deps
    const { siteId } = tx
    const inserted = await insertRecipients(tx, messages, clock.now())
    const jobs = inserted
      .filter(({ status }) => status === 'queued')
      .map(({ messageId, recipient }) => ({
        job: { siteId, messageId, recipient },
        group: domainOf(recipient),
      }))
    await queue.enqueueAll(tx, 'mail-delivery', jobs)
    const suppressed = inserted.filter(({ status }) => status === 'suppressed')
    for (const messageId of new Set(suppressed.map((each) => each.messageId))) {
      await this.report(tx, messageId)
    }
  }

  /** Notifies the sender of recipients that a message did not reach. Those of the same moment are reported together. */
  async report(tx: SiteTx, messageId: string): Promise<void> {
    const { siteId } = tx
    await this.#deps.queue.enqueue(
      tx,
      'delivery-notice',
      { siteId, messageId },
      { singletonKey: `${siteId} ${messageId}`, startAfterSeconds: TOGETHER_SECONDS },
    )
  }
}
