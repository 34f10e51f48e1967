import type { MailContent } from '#mail/parsing/model.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'

import { isAddressBounce } from './address-faults.ts'
import { markBounced } from './queries.ts'
import type { Suppressions } from './suppressions.ts'

const MAX_REPLY = 300

type Bounce = NonNullable<MailContent['bounce']>

/**
 * Shows a bounce at the message that it is about. It has to name the Message-ID of what this mailbox sent, which only its
 * recipients know: others cannot have an address suppressed.
 */
export class Bounces {
  /** Recipients whose mail came back, since the start. */
  count = 0
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'clock'> & {
      readonly suppressions: Pick<Suppressions, 'add'>
    },
  ) {
    this.#deps = deps
  }

  async note(tx: SiteTx, mailboxIds: readonly string[], bounce: Bounce): Promise<void> {
    const { kind, originalMessageId, recipient, status, diagnostic } = bounce
    if (kind !== 'failed' || originalMessageId === null || mailboxIds.length === 0) return
    const reply = [status, diagnostic]
      .filter((text) => text !== null)
      .join(' ')
      .slice(0, MAX_REPLY)
    const now = this.#deps.clock.now()
    const found = { mailboxIds, headerId: originalMessageId, recipient, reply, now }
    const bounced = await markBounced(tx, found)
    tx.onCommit(() => (this.count += bounced.length))
    if (!isAddressBounce(status, diagnostic)) return
    for (const address of bounced) await this.#deps.suppressions.add(tx, address, reply)
  }
}
