import { createHash } from 'node:crypto'

import type { InboundMessage } from '#mail/inbound/model.ts'
import type { MailPurge } from '#mail/removal/purge.ts'
import type { OutgoingForm, PassedOnForms } from '#mail/sending/deliveries.ts'
import type { RecipientQueue } from '#mail/sending/recipient-queue.ts'
import type { Database } from '#platform/postgres/database.ts'

import { insertReturnedRaw } from './returned-queries.ts'

const ENVELOPE_TRACE = /^Return-Path:.*\r\n/i

/** Bounces of forwarded mail on their way back to its author, or to the server that forwarded it before. They are in no mailbox. */
export class ReturnedBounces {
  readonly #deps

  constructor(deps: {
    readonly database: Database
    readonly mailPurge: Pick<MailPurge, 'dropUnused'>
    readonly recipientQueue: RecipientQueue
  }) {
    this.#deps = deps
  }

  /** When it resolves, it is committed. The same bounce again joins the one that waits. */
  async accept(siteId: string, arrival: InboundMessage, address: string): Promise<void> {
    const { database, mailPurge, recipientQueue } = this.#deps
    const { rawId, headers } = arrival
    await database.withSite(siteId, async (tx) => {
      await insertReturnedRaw(tx, arrival)
      const message = {
        kind: 'returned' as const,
        messageId: returnedId(arrival, address),
        mailboxId: '',
        rawId,
        envelopeFrom: '',
        headerId: headers.messageId ?? '',
        recipients: [address],
        letsGo: false,
      }
      await recipientQueue.add(tx, [message])
      await mailPurge.dropUnused(tx, rawId)
    })
  }

  /** With an empty envelope sender, so that no bounce ever comes back. */
  readonly form: PassedOnForms['returned'] = (_site, { traceHeader }, raw): OutgoingForm => {
    const trace = traceHeader.replace(ENVELOPE_TRACE, '')
    const mime = Buffer.concat([Buffer.from(trace), raw])
    return { from: '', mime, author: 'original' }
  }
}

const returnedId = ({ sha256 }: InboundMessage, address: string): string =>
  `ret_${createHash('sha256').update(sha256).update(address).digest('hex').slice(0, 26)}`
