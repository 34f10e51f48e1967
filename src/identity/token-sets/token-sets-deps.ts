import type { Clock } from '#base/clock.ts'
import type { Ids } from '#base/ids.ts'
import type { AuthorizationCodes } from '#identity/authorization/codes.ts'
import type { SecurityEvents } from '#identity/security-events/service.ts'
import type { TokenFamilies } from '#identity/sessions/families.ts'
import type { TokenSigner } from '#identity/tokens/token-signer.ts'
import type { TokenVerifier } from '#identity/tokens/token-verifier.ts'
import type { Users } from '#identity/users/service.ts'
import type { Database } from '#platform/postgres/database.ts'

/** What issuing, exchanging and revoking tokens need of the rest of the service. */
export interface TokenSetsDeps {
  readonly database: Database
  readonly clock: Clock
  readonly ids: Ids
  readonly users: Users
  readonly events: SecurityEvents
  readonly signer: TokenSigner
  readonly verifier: TokenVerifier
  readonly families: TokenFamilies
  readonly codes: AuthorizationCodes
}
