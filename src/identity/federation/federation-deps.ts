import type { AuthEmails } from '#identity/auth-emails/service.ts'
import type { SignIns } from '#identity/authorization/service.ts'
import type { Passwords } from '#identity/passwords/service.ts'
import type { PoolDirectory } from '#identity/pools/directory.ts'
import type { AccountChanges } from '#identity/revocation/account-changes.ts'
import type { SecurityEvents } from '#identity/security-events/service.ts'
import type { Sessions } from '#identity/sessions/service.ts'
import type { Users } from '#identity/users/service.ts'
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
