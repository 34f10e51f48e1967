import type { Identity } from '#identity/identity.ts'
import type { Mailboxes } from '#mail/mailboxes/service.ts'
import type { Messages } from '#mail/messages/service.ts'
import { OUTGOING_PLACES } from '#mail/routing/outgoing-places.ts'
import { RateLimiter } from '#platform/rate-limits/rate-limiter.ts'
import type { Counters } from '#platform/redis/counters.ts'
import type { PlatformServices } from '#platform/services.ts'
import { IdempotentAnswers } from '#sites/idempotency/idempotent-answers.ts'

import { Bounces } from './bounces.ts'
import { Deliveries, type DeliveriesDeps } from './deliveries.ts'
import { OutgoingMail, type OutgoingDeps } from './outgoing.ts'
import type { RecipientQueue } from './recipient-queue.ts'
import { SenderAccess } from './sender-access.ts'
import { Sending } from './service.ts'
import { StagedAttachments } from './staged-attachments.ts'
import { Suppressions } from './suppressions.ts'

export interface SendingServices {
  readonly sending: Sending
  readonly stagedAttachments: StagedAttachments
  readonly suppressions: Suppressions
  readonly bounces: Bounces
  /** For those who hand messages in by other ways. */
  readonly outgoing: OutgoingMail
  readonly senderAccess: SenderAccess
}

export interface OpenSendingDeps
  extends
    PlatformServices,
    Pick<
      DeliveriesDeps,
      'mailRouter' | 'hostname' | 'dkimSigner' | 'siteOf' | 'mailPurge' | 'forms'
    >,
    Pick<OutgoingDeps, 'arrivals' | 'mailParsing'> {
  readonly recipientQueue: RecipientQueue
  readonly counters: Counters
  readonly mailboxes: Mailboxes
  readonly messages: Messages
  readonly events: Pick<Identity['securityEvents'], 'record'>
}

export function openSending(deps: OpenSendingDeps): SendingServices {
  const suppressions = new Suppressions(deps)
  const deliveries = new Deliveries({ ...deps, suppressions })
  deps.queue.handle('mail-delivery', (job, signal) => deliveries.run(job, signal), {
    ...OUTGOING_PLACES['mail-delivery'],
    givenUp: deliveries.givenUp,
  })
  const senderAccess = new SenderAccess(deps)
  const stagedAttachments = new StagedAttachments({ ...deps, senderAccess })
  const outgoing = new OutgoingMail(deps)
  const sending = new Sending({
    ...deps,
    senderAccess,
    stagedAttachments,
    idempotentAnswers: new IdempotentAnswers(deps),
    outgoing,
    rateLimiter: new RateLimiter(deps),
  })
  const bounces = new Bounces({ ...deps, suppressions })
  return {
    sending,
    stagedAttachments,
    suppressions,
    bounces,
    outgoing,
    senderAccess,
  }
}
