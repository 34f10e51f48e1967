import type { Config } from '#config/config.ts'
import type { PassedOnForms } from '#mail/sending/deliveries.ts'
import type { PlatformServices } from '#platform/services.ts'

import { Forwarder, type ForwarderDeps } from './forwarder.ts'
import { ReturnPaths, type ReturnPathsDeps } from './return-paths.ts'
import { ReturnedBounces, type ReturnedBouncesDeps } from './returned-bounces.ts'

/** What sends mail on and takes back its bounces: below what the owners of mailboxes set. */
export interface ForwarderServices {
  readonly forwarder: Forwarder
  readonly returnPaths: ReturnPaths
  readonly returnedBounces: ReturnedBounces
  readonly forms: PassedOnForms
}

export interface OpenForwarderDeps
  extends
    PlatformServices,
    ReturnPathsDeps,
    ReturnedBouncesDeps,
    Omit<ForwarderDeps, 'config' | 'returnPaths' | 'database' | 'sealer'> {
  readonly config: Config
}

export function openForwarder(deps: OpenForwarderDeps): ForwarderServices {
  const returnPaths = new ReturnPaths(deps)
  const forwarder = new Forwarder({ ...deps, config: deps.config.mail, returnPaths })
  const returnedBounces = new ReturnedBounces(deps)
  const forms: PassedOnForms = {
    forwarded: (...message) => forwarder.form(...message),
    returned: returnedBounces.form,
  }
  return { forwarder, returnPaths, returnedBounces, forms }
}
