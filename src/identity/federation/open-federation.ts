import type { Clock } from '#base/clock.ts'
import type { Ids } from '#base/ids.ts'
import type { AuthEmails } from '#identity/auth-emails/auth-email.ts'
import type { SignIns } from '#identity/authorization/service.ts'
import type { Passwords } from '#identity/passwords/service.ts'
import type { PoolDirectory } from '#identity/pools/directory.ts'
import type { SecurityEvents } from '#identity/security-events/service.ts'
import type { Sessions } from '#identity/sessions/service.ts'
import type { Users } from '#identity/users/service.ts'
import type { Database } from '#platform/postgres/database.ts'
import type { Notifications } from '#platform/postgres/notifications.ts'
import type { Sealer } from '#platform/seal/sealer.ts'
import type { SiteKeys } from '#sites/site-keys.ts'

import { Arrivals } from './arrivals.ts'
import { AuthMethods } from './auth-methods.ts'
import { Departures } from './departures.ts'
import { LinkDepartures } from './link-departures.ts'
import { LinkTickets } from './link-tickets.ts'
import { Links } from './links.ts'
import { ProviderClient } from './provider-client.ts'
import { ProviderVisits } from './provider-visits.ts'
import { Providers } from './providers.ts'
import { Returns } from './returns.ts'
import { Federation } from './service.ts'
import { TripRefusals } from './trip-refusals.ts'

export interface FederationDeps {
  readonly database: Database
  readonly notifications: Notifications
  readonly sealer: Sealer
  readonly siteKeys: SiteKeys
  readonly clock: Clock
  readonly ids: Ids
  readonly directory: PoolDirectory
  readonly users: Users
  readonly passwords: Pick<Passwords, 'exists'>
  readonly sessions: Sessions
  readonly signIns: SignIns
  readonly authEmails: AuthEmails
  readonly events: SecurityEvents
}

export interface FederationParts {
  readonly providers: Providers
  readonly federation: Federation
  readonly links: Links
  readonly authMethods: AuthMethods
}

export function openFederation(deps: FederationDeps): FederationParts {
  const tickets = new LinkTickets(deps)
  const links = new Links({ ...deps, tickets })
  const common = {
    ...deps,
    links,
    providers: new Providers(deps),
    client: new ProviderClient(deps),
    visits: new ProviderVisits(deps),
    refusals: new TripRefusals(deps.events),
  }
  const linkDepartures = new LinkDepartures({ ...common, tickets })
  return {
    providers: common.providers,
    links,
    authMethods: new AuthMethods(deps),
    federation: new Federation({
      departures: new Departures({ ...common, linkDepartures }),
      returns: new Returns({ ...common, arrivals: new Arrivals(deps) }),
    }),
  }
}
