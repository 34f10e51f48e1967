import { AuthMethods } from './auth-methods.ts'
import { AuthorizationCallbacks } from './authorization-callbacks.ts'
import { AuthorizationRedirects } from './authorization-redirects.ts'
import { CallbackChecks } from './callback-checks.ts'
import { FederatedAccounts } from './federated-accounts.ts'
import type { FederationDeps } from './federation-deps.ts'
import { LinkTickets } from './link-tickets.ts'
import { Links } from './links.ts'
import { LoginRefusals } from './login-refusals.ts'
import { LoginStates } from './login-states.ts'
import { ProviderClient } from './provider-client.ts'
import { Providers } from './providers.ts'

export interface FederationServices {
  readonly providers: Providers
  readonly authorizationRedirects: AuthorizationRedirects
  readonly authorizationCallbacks: AuthorizationCallbacks
  readonly links: Links
  readonly authMethods: AuthMethods
  readonly callbackChecks: CallbackChecks
}

export function openFederation(deps: FederationDeps): FederationServices {
  const tickets = new LinkTickets(deps)
  const links = new Links({ ...deps, tickets })
  const common = {
    ...deps,
    links,
    tickets,
    providers: new Providers(deps),
    client: new ProviderClient(deps),
    loginStates: new LoginStates(deps),
    refusals: new LoginRefusals(deps.events),
  }
  return {
    providers: common.providers,
    links,
    authMethods: new AuthMethods(deps),
    callbackChecks: new CallbackChecks(common),
    authorizationRedirects: new AuthorizationRedirects(common),
    authorizationCallbacks: new AuthorizationCallbacks({
      ...common,
      accounts: new FederatedAccounts(common),
    }),
  }
}
