import type { Clock } from '#base/clock.ts'
import type { Ids } from '#base/ids.ts'
import type { Database } from '#platform/postgres/database.ts'
import type { Sealer } from '#platform/seal/sealer.ts'

import { AuthorizationCodes } from './authorization/codes.ts'
import { SignIns } from './authorization/sign-ins.ts'
import { Consents } from './consents/consents.ts'
import type { AccountChanges } from './revocation/account-changes.ts'
import type { SecurityEvents } from './security-events/security-events.ts'
import { TokenFamilies } from './sessions/families.ts'
import { LogoutRequests } from './sessions/logout-requests.ts'
import { Sessions } from './sessions/sessions.ts'
import { SignOut } from './sessions/sign-out.ts'
import { ClientAuthentication } from './token-sets/client-authentication.ts'
import { TokenSets } from './token-sets/token-sets.ts'
import type { TokenSigner } from './tokens/token-signer.ts'
import type { TokenVerifier } from './tokens/token-verifier.ts'
import type { Users } from './users/users.ts'

export interface SignInServices {
  readonly signIns: SignIns
  readonly consents: Consents
  readonly sessions: Sessions
  readonly signOut: SignOut
  readonly clientAuthentication: ClientAuthentication
  readonly tokenSets: TokenSets
  readonly logouts: LogoutRequests
}

/** From an authorization request to tokens, and to their end. */
export function openSignIns(deps: {
  database: Database
  clock: Clock
  ids: Ids
  changes: AccountChanges
  users: Users
  events: SecurityEvents
  signer: TokenSigner
  verifier: TokenVerifier
  sealer: Pick<Sealer, 'derive'>
}): SignInServices {
  const families = new TokenFamilies(deps)
  const codes = new AuthorizationCodes(deps)
  const sessions = new Sessions({ ...deps, families, codes })
  const consents = new Consents({ ...deps, families, codes })
  return {
    signIns: new SignIns({ ...deps, sessions, codes, consents }),
    consents,
    sessions,
    signOut: new SignOut({ ...deps, families, codes }),
    clientAuthentication: new ClientAuthentication(deps),
    tokenSets: new TokenSets({ ...deps, families, codes }),
    logouts: new LogoutRequests(deps),
  }
}
