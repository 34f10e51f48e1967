import type { MailAddresses } from '#mail/addresses/service.ts'
import type { Counters } from '#platform/redis/counters.ts'
import type { PlatformServices } from '#platform/services.ts'

import { OwnAddresses, type OwnAddressesDeps } from './own-addresses.ts'
import { Forwarding, type ForwardingDeps } from './service.ts'
import { ForwardingTargets, type ForwardingTargetsDeps } from './targets.ts'
import { ForwardingVerifications, type ForwardingVerificationsDeps } from './verifications.ts'

export interface ForwardingServices {
  readonly forwarding: Forwarding
  readonly forwardingTargets: ForwardingTargets
  readonly forwardingVerifications: ForwardingVerifications
}

export interface OpenForwardingDeps
  extends
    PlatformServices,
    OwnAddressesDeps,
    Pick<ForwardingDeps, 'mailboxes' | 'events'>,
    Pick<ForwardingTargetsDeps, 'suppressed'>,
    Pick<ForwardingVerificationsDeps, 'baseUrl' | 'outboundMessages'> {
  readonly addresses: MailAddresses
  readonly counters: Counters
}

export function openForwarding(deps: OpenForwardingDeps): ForwardingServices {
  const forwardingVerifications = new ForwardingVerifications(deps)
  return {
    forwarding: new Forwarding(deps),
    forwardingTargets: new ForwardingTargets({
      ...deps,
      ownAddresses: new OwnAddresses(deps),
      verifications: forwardingVerifications,
    }),
    forwardingVerifications,
  }
}
