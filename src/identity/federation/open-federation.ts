import type { Clock } from '#base/clock.ts'
import type { Ids } from '#base/ids.ts'
import type { AuthEmails } from '#identity/auth-emails/service.ts'
import type { SignIns } from '#identity/authorization/service.ts'
import type { Passwords } from '#identity/passwords/service.ts'
import type { PoolDirectory } from '#identity/pools/directory.ts'
import type { AccountChanges } from '#identity/revocation/account-changes.ts'
import type { SecurityEvents } from '#identity/security-events/service.ts'
import type { Sessions } from '#identity/sessions/service.ts'
import type { Users } from '#identity/users/service.ts'
import type { Database } from '#platform/postgres/database.ts'
import type { Sealer } from '#platform/seal/sealer.ts'
import type { SiteKeys } from '#sites/site-keys.ts'

import { AuthMethods } from './auth-methods.ts'
import { AuthorizationCallbacks } from './authorization-callbacks.ts'
import { AuthorizationRedirects } from './authorization-redirects.ts'
import { FederatedAccounts } from './federated-accounts.ts'
import { LinkChecks } from './link-checks.ts'
import { LinkTickets } from './link-tickets.ts'
import { Links } from './links.ts'
import { LoginRefusals } from './login-refusals.ts'
import { LoginStates } from './login-states.ts'
import { ProviderClient } from './provider-client.ts'
import { Providers } from './providers.ts'

export interface FederationDeps {
  readonly database: Database
  readonly changes: AccountChanges
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

export interface FederationServices {
  readonly providers: Providers
  readonly authorizationRedirects: AuthorizationRedirects
  readonly authorizationCallbacks: AuthorizationCallbacks
  readonly links: Links
  readonly authMethods: AuthMethods
}

export function openFederation(deps: FederationDeps): FederationServices {
  const tickets = new LinkTickets(deps)
  const links = new Links({ ...deps, tickets })
  const common = {
    ...deps,
    links,
    providers: new Providers(deps),
    client: new ProviderClient(deps),
    loginStates: new LoginStates(deps),
    refusals: new LoginRefusals(deps.events),
  }
  const linkChecks = new LinkChecks({ ...common, tickets })
  return {
    providers: common.providers,
    links,
    authMethods: new AuthMethods(deps),
    authorizationRedirects: new AuthorizationRedirects({ ...common, linkChecks }),
    authorizationCallbacks: new AuthorizationCallbacks({
      ...common,
      accounts: new FederatedAccounts(deps),
    }),
  }
}
