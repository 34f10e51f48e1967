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
import { ClientRegistrations } from './client-registrations/client-registrations.ts'
import type { CognitoApi } from './cognito/api/cognito-api.ts'
import { openCognito, openSrp } from './cognito/open-cognito.ts'
import { DeployTokens } from './deploy-tokens/deploy-tokens.ts'
import { DeployWebhooks } from './deploy-webhooks/deploy-webhooks.ts'
import { type FederationServices, openFederation } from './federation/open-federation.ts'
import { DataGroups, type GroupUses } from './groups/data-groups.ts'
import { Invites } from './invites/invites.ts'
import { SuperAdminInvites } from './invites/super-admin-invites.ts'
import type { NewKeyPair } from './keys/key-pair.ts'
import { SigningKeys } from './keys/signing-keys.ts'
import { type OwnAccountServices, openOwnAccounts } from './own-account/open-own-accounts.ts'
import type { BreachedPasswords } from './passwords/known-passwords.ts'
import { AuthSettings } from './pools/auth-settings.ts'
import { PoolDirectory } from './pools/directory.ts'
import { Pools } from './pools/pools.ts'
import { type ProfileServices, openProfiles } from './profiles/open-profiles.ts'
import { AuthRateLimiter } from './rate-limits/auth-rate-limiter.ts'
import { FailureCounter } from './rate-limits/failure-counter.ts'
import { AccountChanges } from './revocation/account-changes.ts'
import { RevocationStates } from './revocation/revocation-states.ts'
import { SecurityEvents } from './security-events/security-events.ts'
import { UserSessions } from './sessions/user-sessions.ts'
import { type SignInServices, openSignIns } from './sign-in-parts.ts'
import { AdminTokens } from './tokens/admin-tokens.ts'
import { TokenMint } from './tokens/token-mint.ts'
import { TokenSigner } from './tokens/token-signer.ts'
import { TokenVerifier } from './tokens/token-verifier.ts'
import { VisitorTokens } from './tokens/visitor-tokens.ts'
import { Users } from './users/users.ts'
import { Visitors } from './users/visitors.ts'

export interface IdentityDeps extends Pick<
  PlatformServices,
  'database' | 'notifications' | 'queue' | 'clock' | 'ids'
> {
  readonly sealer: Sealer
  readonly siteKeys: SiteKeys
  readonly counters: Counters
  readonly baseUrl: string
  readonly mail: OutboundMail
  readonly groupUses: GroupUses
  readonly mailboxOwnership: MailboxOwnership
  /** Ours when left out. */
  readonly breachedPasswords?: BreachedPasswords
  /** For a pool that signs tokens; made anew when left out. */
  newKeyPair?(): Promise<NewKeyPair>
  /** For jobs, which carry only the site's id. 404 when it is gone. */
  siteOf(siteId: string): Promise<Site>
}

export interface Identity
  extends SignInServices, AccountServices, FederationServices, ProfileServices, OwnAccountServices {
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
}

/** The identity half of the service, listening for changes that other replicas make to keys and users. */
export async function openIdentity(deps: IdentityDeps): Promise<Identity> {
  const directory = new PoolDirectory(deps)
  const revocationStates = new RevocationStates()
  const changes = new AccountChanges({ ...deps, revocationStates, directory })
  await changes.listen()
  const securityEvents = new SecurityEvents(deps)
  const attempts = new FailureCounter(deps)
  const rateLimiter = new AuthRateLimiter({ attempts, events: securityEvents })
  const shared = {
    ...deps,
    directory,
    revocationStates,
    changes,
    events: securityEvents,
    attempts,
    rateLimiter,
  }
  const signingKeys = new SigningKeys(shared)
  const users = new Users(shared)
  const authEmails = new AuthEmails(deps)
  const invites = new Invites({ ...shared, authEmails })
  const verifier = new TokenVerifier(shared)
  const signer = new TokenSigner({ ...deps, signingKeys })
  const services = { ...shared, users, authEmails, invites, verifier, signer }
  const signInParts = openSignIns(services)
  const srp = openSrp(deps)
  const accountParts = openAccounts({ ...services, ...signInParts, srpVerifiers: srp.verifiers })
  const superAdminInvites = new SuperAdminInvites(services)
  const idempotentAnswers = new IdempotentAnswers(deps)
  const ownAccountParts = openOwnAccounts({ ...services, ...signInParts })
  const profileParts = openProfiles({ ...services, ...signInParts, ...accountParts })
  const parts = { ...signInParts, ...accountParts, ...ownAccountParts, ...profileParts }
  return {
    pools: new Pools({ ...shared, superAdmins: superAdminInvites }),
    signingKeys,
    users,
    visitors: new Visitors(shared),
    adminUsers: new AdminUsers({ ...services, ...profileParts, idempotentAnswers }),
    invites,
    superAdminInvites,
    ...parts,
    attempts,
    rateLimiter,
    authEmailBranding: new AuthEmailBranding(shared),
    authEmails,
    tokenMint: new TokenMint(services),
    adminTokens: new AdminTokens(services),
    deployTokens: new DeployTokens(shared),
    deployWebhooks: new DeployWebhooks(shared),
    visitorTokens: new VisitorTokens(services),
    securityEvents,
    dataGroups: new DataGroups(shared),
    authSettings: new AuthSettings(shared),
    clientRegistrations: new ClientRegistrations(shared),
    userSessions: new UserSessions({ ...services, ...signInParts }),
    ...openFederation({ ...services, ...signInParts, ...accountParts }),
    cognitoApi: openCognito({ ...services, ...parts, ...srp }),
  }
}
