import type { Config } from '#config/config.ts'
import type { Recipients } from '#mail/recipients/service.ts'
import type { DnsResolver } from '#platform/dns/dns-resolver.ts'
import type { Counters } from '#platform/redis/counters.ts'
import type { PlatformServices } from '#platform/services.ts'
import { SmtpListener } from '#platform/smtp-server/smtp-listener.ts'

import type { Arrivals } from './arrivals.ts'
import { InboundGate } from './gate.ts'
import { LocalMail, type LocalMailDeps } from './local-mail.ts'
import { MessageStore } from './message-store.ts'
import { RecipientLookup, type RecipientLookupDeps } from './recipient-lookup.ts'
import { InboundMail, type InboundMailDeps } from './service.ts'

export interface InboundServices {
  /** Takes mail from other servers once it is started. */
  readonly smtp: SmtpListener
  readonly localMail: LocalMail
}

export interface OpenInboundDeps
  extends
    PlatformServices,
    Pick<RecipientLookupDeps, 'returnPath'>,
    Pick<LocalMailDeps, 'isReturnPath' | 'hasGateway'>,
    Pick<InboundMailDeps, 'accepting' | 'returnBounce'> {
  readonly config: Config
  readonly counters: Counters
  readonly dns: DnsResolver
  readonly siteByHost: RecipientLookupDeps['siteByDomain']
  readonly recipients: Recipients
  readonly arrivals: Arrivals
}

/** What takes mail: from other servers, and from the sites here, by the same rules. */
export async function openInbound(deps: OpenInboundDeps): Promise<InboundServices> {
  const { config, recipients, siteByHost: siteByDomain, returnPath } = deps
  const { smtpLimits: limits, smtpHostname: hostname, smtpPort: port } = config.mail
  const { messageBytes } = limits
  const lookup = new RecipientLookup({ recipients, hostname, siteByDomain, returnPath })
  await lookup.listen(deps.notifications)
  const shared = {
    ...deps,
    config: config.mail,
    gate: new InboundGate({ ...deps, limits }),
    lookup,
    store: new MessageStore({ ...deps, maxBytes: messageBytes }),
  }
  const policy = new InboundMail(shared)
  return {
    smtp: new SmtpListener({
      ...shared,
      name: 'smtp',
      port,
      messageBytes,
      dataDir: config.dataDir,
      policy,
    }),
    localMail: new LocalMail({ ...shared, hostname, siteByDomain }),
  }
}
