import type { Clock } from '#base/clock.ts'
import type { Ids } from '#base/ids.ts'
import type { AuthEmails } from '#identity/auth-emails/service.ts'
import type { Invites } from '#identity/invites/service.ts'
import type { BreachedPasswords } from '#identity/passwords/breached-passwords.ts'
import type { Passwords } from '#identity/passwords/service.ts'
import type { SrpVerifiers } from '#identity/passwords/srp-verifiers.ts'
import type { PoolDirectory } from '#identity/pools/directory.ts'
import type { AuthRateLimiter } from '#identity/rate-limits/auth-rate-limiter.ts'
import type { SecurityEvents } from '#identity/security-events/service.ts'
import type { SignOut } from '#identity/sessions/sign-out.ts'
import type { Users } from '#identity/users/service.ts'
import type { Database } from '#platform/postgres/database.ts'
import type { Queue } from '#platform/queue/queue.ts'
import type { Sealer } from '#platform/seal/sealer.ts'
import type { SiteKeys } from '#sites/site-keys.ts'
import type { Site } from '#sites/site.ts'

import type { MailedCodes } from './mailed-codes.ts'

/** What accounts need of the rest of the service. */
export interface AccountsDeps {
  readonly database: Database
  readonly queue: Queue
  readonly sealer: Sealer
  readonly siteKeys: SiteKeys
  readonly clock: Clock
  readonly ids: Ids
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
  readonly passwords: Passwords
}
