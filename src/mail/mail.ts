import type { Sealer } from '#platform/seal/sealer.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { MailTransport } from '#platform/smtp/mail-transport.ts'
import type { SiteKeys } from '#sites/site-keys.ts'
import type { Site } from '#sites/site.ts'

import { OutboundMessages } from './outbound/service.ts'
import { SiteMessages } from './outbound/site-messages.ts'

/** Messages on their way at once; each waits for the gateway most of its time. */
const OUTBOUND_WORKERS = 4

export interface MailDeps extends PlatformServices {
  readonly sealer: Sealer
  readonly siteKeys: SiteKeys
  readonly mailTransport: MailTransport
  /** Rejects with `SiteNotFound` when the site is gone. */
  readonly siteOf: (siteId: string) => Promise<Site>
}

/** The mail half of the service, its workers behind their queues. */
export interface Mail {
  readonly outboundMessages: OutboundMessages
  readonly siteMessages: SiteMessages
}

export function openMail(deps: MailDeps): Mail {
  const outboundMessages = openOutbound(deps)
  return { outboundMessages, siteMessages: new SiteMessages({ ...deps, outboundMessages }) }
}

function openOutbound(deps: MailDeps): OutboundMessages {
  const messages = new OutboundMessages(deps)
  deps.queue.handle('outbound-mail', (job, signal) => messages.run(job, signal), {
    concurrency: OUTBOUND_WORKERS,
  })
  return messages
}
