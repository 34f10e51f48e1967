import { InboundGate } from '#mail/inbound/gate.ts'
import { MAX_MESSAGE_BYTES } from '#mail/sending/model.ts'
import { RateLimiter } from '#platform/rate-limits/rate-limiter.ts'
import type { Counters } from '#platform/redis/counters.ts'
import type { PlatformServices } from '#platform/services.ts'
import { SmtpListener, type SmtpListenerDeps } from '#platform/smtp-server/smtp-listener.ts'

import { SubmissionCredentials, type SubmissionCredentialsDeps } from './credentials.ts'
import { SubmissionMail, type SubmissionMailDeps } from './service.ts'

export interface SubmissionServices {
  readonly submissionCredentials: SubmissionCredentials
  /** Takes mail from mail programs once it is started. */
  readonly submission: SmtpListener
}

export interface OpenSubmissionDeps
  extends
    PlatformServices,
    Pick<SmtpListenerDeps, 'config' | 'dataDir'>,
    Pick<SubmissionCredentialsDeps, 'addresses' | 'senderAccess' | 'mailboxes' | 'events'>,
    Pick<SubmissionMailDeps, 'outgoing' | 'siteByDomain'> {
  readonly counters: Counters
}

export function openSubmission(deps: OpenSubmissionDeps): SubmissionServices {
  const { config } = deps
  const submissionCredentials = new SubmissionCredentials(deps)
  const policy = new SubmissionMail({
    ...deps,
    credentials: submissionCredentials,
    gate: new InboundGate({ ...deps, limits: config.smtpLimits }),
    rateLimiter: new RateLimiter(deps),
  })
  const submission = new SmtpListener({
    ...deps,
    name: 'submission',
    port: config.submissionPort,
    messageBytes: MAX_MESSAGE_BYTES,
    policy,
  })
  return { submissionCredentials, submission }
}
