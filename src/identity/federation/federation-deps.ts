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

/** What federation needs of the rest of the service. */
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
