import type { AuthEmails } from '#identity/auth-emails/auth-emails.ts'
import type { Invites } from '#identity/invites/invites.ts'
import type { MailedCodes } from '#identity/mailed-codes.ts'
import type { BreachedPasswords } from '#identity/passwords/known-passwords.ts'
import type { Passwords } from '#identity/passwords/passwords.ts'
import type { SrpVerifiers } from '#identity/passwords/srp-verifiers.ts'
import type { PoolDirectory } from '#identity/pools/directory.ts'
import type { AuthRateLimiter } from '#identity/rate-limits/auth-rate-limiter.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'
import type { SignOut } from '#identity/sessions/sign-out.ts'
import type { UserCodes } from '#identity/user-codes/user-codes.ts'
import type { Users } from '#identity/users/users.ts'
import type { Sealer } from '#platform/seal/sealer.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { SiteKeys } from '#sites/site-keys.ts'
import type { Site } from '#sites/site.ts'

/** What accounts need of the rest of the service. */
export interface AccountsDeps extends Pick<
  PlatformServices,
  'database' | 'queue' | 'clock' | 'ids'
> {
  readonly sealer: Sealer
  readonly siteKeys: SiteKeys
  readonly directory: PoolDirectory
  readonly users: Users
  readonly invites: Invites
  readonly rateLimiter: AuthRateLimiter
  readonly events: SecurityEvents
  readonly authEmails: AuthEmails
  readonly signOut: SignOut
  /** Ours when left out. */
  readonly breachedPasswords?: BreachedPasswords
  readonly srpVerifiers?: SrpVerifiers
  siteOf(siteId: string): Promise<Site>
}

/** What each service of accounts is given. */
export interface AccountServiceDeps extends AccountsDeps {
  readonly codes: MailedCodes
  readonly userCodes: UserCodes
  readonly passwords: Passwords
}
