import type { Counters } from '#platform/redis/counters.ts'
import type { Sealer } from '#platform/seal/sealer.ts'
import type { PlatformServices } from '#platform/services.ts'
import { IdempotentAnswers } from '#sites/idempotency/idempotent-answers.ts'
import type { SiteKeys } from '#sites/site-keys.ts'
import type { Site } from '#sites/site.ts'

import { type AccountServices, openAccounts } from './accounts/open-accounts.ts'
import { AdminUsers } from './admin-users/admin-users.ts'
import type { MailboxOwnership } from './admin-users/mailbox-ownership.ts'
import { AuthEmails } from './auth-emails/auth-emails.ts'
import { AuthEmailBranding } from './auth-emails/branding-service.ts'
import type { OutboundMail } from './auth-emails/outbound-mail.ts'
import { AuthorizationCodes } from './authorization/codes.ts'
import { SignIns } from './authorization/sign-ins.ts'
import { ClientRegistrations } from './client-registrations/client-registrations.ts'
import type { CognitoApi } from './cognito/api/cognito-api.ts'
import { openCognito, openSrp } from './cognito/open-cognito.ts'
import { Consents } from './consents/consents.ts'
import { DeployTokens } from './deploy-tokens/deploy-tokens.ts'
import { DeployWebhooks } from './deploy-webhooks/deploy-webhooks.ts'
import { AuthMethods } from './federation/auth-methods.ts'
import { AuthorizationCallbacks } from './federation/authorization-callbacks.ts'
import { AuthorizationRedirects } from './federation/authorization-redirects.ts'
import { CallbackChecks } from './federation/callback-checks.ts'
import { FederatedAccounts } from './federation/federated-accounts.ts'
import { LinkTickets } from './federation/link-tickets.ts'
import { Links } from './federation/links.ts'
import { LoginRefusals } from './federation/login-refusals.ts'
import { LoginStates } from './federation/login-states.ts'
import { ProviderClient } from './federation/provider-client.ts'
import { Providers } from './federation/providers.ts'
import { DataGroups, type GroupUses } from './groups/data-groups.ts'
import { Invites } from './invites/invites.ts'
import { SuperAdminInvites } from './invites/super-admin-invites.ts'
import type { NewKeyPair } from './keys/key-pair.ts'
import { SigningKeys } from './keys/signing-keys.ts'
import type { BreachedPasswords } from './passwords/known-passwords.ts'
import { AuthSettings } from './pools/auth-settings.ts'
import { PoolDirectory } from './pools/directory.ts'
import { Pools } from './pools/pools.ts'
import { AddressChanges } from './profiles/address-changes.ts'
import { AddressCodes } from './profiles/address-codes.ts'
import { Profiles } from './profiles/profiles.ts'
import { AuthRateLimiter } from './rate-limits/auth-rate-limiter.ts'
import { FailureCounter } from './rate-limits/failure-counter.ts'
import { AccountChanges } from './revocation/account-changes.ts'
import { RevocationStates } from './revocation/revocation-states.ts'
import { SecurityEvents } from './security-events/security-events.ts'
import { AccountDeletions } from './self-service/deletions.ts'
import { SelfService } from './self-service/self-service.ts'
import { TokenFamilies } from './sessions/families.ts'
import { LogoutRequests } from './sessions/logout-requests.ts'
import { Sessions } from './sessions/sessions.ts'
import { SignOut } from './sessions/sign-out.ts'
import { UserSessions } from './sessions/user-sessions.ts'
import { ClientAuthentication } from './token-endpoint/client-authentication.ts'
import { TokenEndpoint } from './token-endpoint/token-endpoint.ts'
import { AdminTokens } from './tokens/admin-tokens.ts'
import { TokenMint } from './tokens/token-mint.ts'
import { TokenSigner } from './tokens/token-signer.ts'
import { TokenVerifier } from './tokens/token-verifier.ts'
import { VisitorTokens } from './tokens/visitor-tokens.ts'
import { Users } from './users/users.ts'
import { Visitors } from './users/visitors.ts'
import { VisitorAccounts } from './visitor-accounts/visitor-accounts.ts'

export interface IdentityDeps extends Pick<
  PlatformServices,
  'database' | 'notifications' | 'queue' | 'clock' | 'ids'
> {
  readonly sealer: Sealer
  readonly siteKeys: SiteKeys
  readonly counters: Counters
  readonly baseUrl: string
  readonly consoleDomain: string | undefined
  readonly mail: OutboundMail
  readonly groupUses: GroupUses
  readonly mailboxOwnership: MailboxOwnership
  /** Ours when left out. */
  readonly breachedPasswords?: BreachedPasswords
  /** For a pool that signs tokens; generated when left out. */
  newKeyPair?(): Promise<NewKeyPair>
  /** For jobs, which carry only the site's id. 404 when it is gone. */
  siteOf(siteId: string): Promise<Site>
}

export interface Identity extends AccountServices {
  readonly pools: Pools
  readonly signingKeys: SigningKeys
  readonly users: Users
  readonly visitors: Visitors
  readonly adminUsers: AdminUsers
  readonly invites: Invites
  readonly attempts: FailureCounter
  readonly rateLimiter: AuthRateLimiter
  readonly superAdminInvites: SuperAdminInvites
  readonly dataGroups: DataGroups
  readonly authSettings: AuthSettings
  readonly clientRegistrations: ClientRegistrations
  readonly userSessions: UserSessions
  readonly authEmails: AuthEmails
  readonly authEmailBranding: AuthEmailBranding
  readonly tokenMint: TokenMint
  readonly adminTokens: AdminTokens
  readonly deployTokens: DeployTokens
  readonly deployWebhooks: DeployWebhooks
  readonly visitorTokens: VisitorTokens
  readonly securityEvents: SecurityEvents
  readonly cognitoApi: CognitoApi
  readonly signIns: SignIns
  readonly consents: Consents
  readonly sessions: Sessions
  readonly signOut: SignOut
  readonly clientAuthentication: ClientAuthentication
  readonly tokenEndpoint: TokenEndpoint
  readonly logouts: LogoutRequests
  readonly profiles: Profiles
  readonly addressChanges: AddressChanges
  readonly addressCodes: AddressCodes
  /** Accounts as admins look after them; `selfService` and `accountDeletions` serve the owners. */
  readonly visitorAccounts: VisitorAccounts
  readonly selfService: SelfService
  readonly accountDeletions: AccountDeletions
  readonly providers: Providers
  readonly authorizationRedirects: AuthorizationRedirects
  readonly authorizationCallbacks: AuthorizationCallbacks
  readonly links: Links
  readonly authMethods: AuthMethods
  readonly callbackChecks: CallbackChecks
}

type Core = Awaited<ReturnType<typeof openCore>>
type SignInServices = ReturnType<typeof openSignIns>

/** The identity half of the service, listening for changes that other replicas make to keys and users. */
export async function openIdentity(deps: IdentityDeps): Promise<Identity> {
  const core = await openCore(deps)
  const signInServices = openSignIns(core)
  const srp = openSrp(deps)
  const accounts = openAccounts({ ...core, ...signInServices, srpVerifiers: srp.verifiers })
  const services = { ...core, ...signInServices, ...accounts }
  const visitorAccounts = new VisitorAccounts(services)
  const addressChanges = new AddressChanges(services)
  const owned = {
    visitorAccounts,
    selfService: new SelfService(services),
    accountDeletions: new AccountDeletions({ ...services, visitorAccounts }),
    addressChanges,
    addressCodes: new AddressCodes({ ...services, addressChanges }),
    profiles: new Profiles({ ...services, addressChanges }),
  }
  const superAdminInvites = new SuperAdminInvites(core)
  const idempotentAnswers = new IdempotentAnswers(deps)
  return {
    pools: new Pools({ ...core, superAdmins: superAdminInvites }),
    signingKeys: core.signingKeys,
    users: core.users,
    visitors: new Visitors(core),
    adminUsers: new AdminUsers({ ...core, addressChanges, idempotentAnswers }),
    invites: core.invites,
    superAdminInvites,
    ...signInServices,
    ...accounts,
    ...owned,
    attempts: core.attempts,
    rateLimiter: core.rateLimiter,
    authEmailBranding: new AuthEmailBranding(core),
    authEmails: core.authEmails,
    tokenMint: new TokenMint(core),
    adminTokens: new AdminTokens(core),
    deployTokens: new DeployTokens(core),
    deployWebhooks: new DeployWebhooks(core),
    visitorTokens: new VisitorTokens(core),
    securityEvents: core.events,
    dataGroups: new DataGroups(core),
    authSettings: new AuthSettings(core),
    clientRegistrations: new ClientRegistrations(core),
    userSessions: new UserSessions(services),
    ...openFederation(services),
    cognitoApi: openCognito({ ...services, ...owned, ...srp }),
  }
}

/** What everything else of identity is built on. */
async function openCore(deps: IdentityDeps) {
  const directory = new PoolDirectory(deps)
  const revocationStates = new RevocationStates()
  const changes = new AccountChanges({ ...deps, revocationStates, directory })
  await changes.listen()
  const events = new SecurityEvents(deps)
  const attempts = new FailureCounter(deps)
  const rateLimiter = new AuthRateLimiter({ attempts, events })
  const shared = { ...deps, directory, revocationStates, changes, events, attempts, rateLimiter }
  const signingKeys = new SigningKeys(shared)
  const authEmails = new AuthEmails(deps)
  return {
    ...shared,
    signingKeys,
    users: new Users(shared),
    authEmails,
    invites: new Invites({ ...shared, authEmails }),
    verifier: new TokenVerifier(shared),
    signer: new TokenSigner({ ...deps, signingKeys }),
  }
}

/** From an authorization request to tokens, and to their end. */
function openSignIns(core: Core) {
  const families = new TokenFamilies(core)
  const deps = { ...core, families, codes: new AuthorizationCodes(core) }
  const sessions = new Sessions(deps)
  const consents = new Consents(deps)
  return {
    signIns: new SignIns({ ...deps, sessions, consents }),
    consents,
    sessions,
    signOut: new SignOut(deps),
    clientAuthentication: new ClientAuthentication(core),
    tokenEndpoint: new TokenEndpoint(deps),
    logouts: new LogoutRequests(core),
  }
}

/** Sign-in with a provider that the operator configured. */
function openFederation(services: Core & SignInServices & AccountServices) {
  const tickets = new LinkTickets(services)
  const providers = new Providers(services)
  const links = new Links({ ...services, tickets })
  const deps = {
    ...services,
    links,
    tickets,
    providers,
    client: new ProviderClient(services),
    loginStates: new LoginStates(services),
    refusals: new LoginRefusals(services.events),
  }
  return {
    providers,
    links,
    authMethods: new AuthMethods(services),
    callbackChecks: new CallbackChecks(deps),
    authorizationRedirects: new AuthorizationRedirects(deps),
    authorizationCallbacks: new AuthorizationCallbacks({
      ...deps,
      accounts: new FederatedAccounts(deps),
    }),
  }
}
