import type { AuthEmails } from '#identity/auth-emails/auth-emails.ts'
import type { SignIns } from '#identity/authorization/sign-ins.ts'
import type { Passwords } from '#identity/passwords/passwords.ts'
import type { PoolDirectory } from '#identity/pools/directory.ts'
import type { AccountChanges } from '#identity/revocation/account-changes.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'
import type { Sessions } from '#identity/sessions/sessions.ts'
import type { Users } from '#identity/users/users.ts'
import type { Sealer } from '#platform/seal/sealer.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { SiteKeys } from '#sites/site-keys.ts'

/** What federation needs of the rest of the service. */
export interface FederationDeps extends Pick<PlatformServices, 'database' | 'clock' | 'ids'> {
  readonly changes: AccountChanges
  readonly sealer: Sealer
  readonly siteKeys: SiteKeys
  readonly directory: PoolDirectory
  readonly users: Users
  readonly passwords: Pick<Passwords, 'exists'>
  readonly sessions: Sessions
  readonly signIns: SignIns
  readonly authEmails: AuthEmails
  readonly events: SecurityEvents
}
