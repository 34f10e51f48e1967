import type { AuthorizationCodes } from '#identity/authorization/codes.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'
import type { TokenFamilies } from '#identity/sessions/families.ts'
import type { TokenSigner } from '#identity/tokens/token-signer.ts'
import type { TokenVerifier } from '#identity/tokens/token-verifier.ts'
import type { Users } from '#identity/users/users.ts'
import type { Sealer } from '#platform/seal/sealer.ts'
import type { PlatformServices } from '#platform/services.ts'

import type { RefreshResponses } from './refresh-responses.ts'
import type { TokenIssuer } from './token-issuer.ts'

/** What issuing, exchanging and revoking tokens need of the rest of the service. */
export interface TokenEndpointDeps extends Pick<PlatformServices, 'database' | 'clock' | 'ids'> {
  readonly users: Users
  readonly events: SecurityEvents
  readonly signer: TokenSigner
  readonly verifier: TokenVerifier
  readonly families: TokenFamilies
  readonly codes: AuthorizationCodes
  readonly sealer: Pick<Sealer, 'derive'>
}

export interface GrantDeps extends TokenEndpointDeps {
  readonly issuer: TokenIssuer
  readonly refreshResponses: RefreshResponses
}
