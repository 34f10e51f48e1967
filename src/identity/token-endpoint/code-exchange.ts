import type { FoundCode } from '#identity/authorization/codes.ts'
import type { PoolRequest } from '#identity/pool-request.ts'
import type { Pool } from '#identity/pools/model.ts'
import { lockAccountOfSignIn } from '#identity/sessions/session-accounts.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

import { type GrantResult, granted, denied } from './oauth-error.ts'
import { matchesChallenge } from './pkce.ts'
import { endReplayed } from './replay.ts'
import type { GrantDeps } from './token-endpoint-deps.ts'
import type { IssuedTokenSet } from './token-issuer.ts'

export interface CodeGrant {
  readonly clientId: string
  readonly code: string
  readonly redirectUri: string
  readonly codeVerifier: string | undefined
}

/** The checks of a code. Only a request that passes them learns that the code was used already. */
const CHECKS: readonly {
  readonly description: string
  readonly is: (code: FoundCode, exchange: CodeGrant, pool: Pool) => boolean
}[] = [
  {
    description: 'code is of another pool',
    is: (code, _, pool) => code.userPoolId !== pool.userPoolId,
  },
  {
    description: 'code is of another client',
    is: (code, { clientId }) => code.clientId !== clientId,
  },
  { description: 'code has expired', is: (code) => code.expired },
  {
    description: 'redirect_uri is not the one that the code was asked for with',
    is: (code, { redirectUri }) => code.redirectUri !== redirectUri,
  },
  {
    // Also one that comes with a code that was asked for without a challenge (RFC 9700 section 4.8.2).
    description: 'code_verifier does not belong to the code',
    is: ({ codeChallenge }, { codeVerifier }) =>
      codeChallenge === null
        ? codeVerifier !== undefined
        : !matchesChallenge(codeVerifier, codeChallenge),
  },
]
const UNKNOWN = 'code is not known'
const USED = 'code was used already'
const SIGNED_OUT = 'The user has been signed out'

/** Turns a code into the first tokens of a sign-in. A second use ends the tokens of the first (RFC 6749 section 4.1.2). */
export async function exchangeCode(
  deps: GrantDeps,
  tx: SiteTx,
  request: PoolRequest,
  grant: CodeGrant,
): Promise<GrantResult<IssuedTokenSet>> {
  const { pool, origin } = request
  const code = await deps.codes.find(tx, grant.code)
  if (!code) return denied('invalid_grant', UNKNOWN)
  const fault = CHECKS.find(({ is }) => is(code, grant, pool))
  // For a code of another pool or client, the error says no more than that.
  if (fault) return denied('invalid_grant', fault.description)
  const replay = { event: 'authorization-code.replayed', description: USED } as const
  if (code.familyId !== null) return endReplayed(deps, tx, request, { ...replay, stored: code })
  const account = await lockAccountOfSignIn(tx, pool, code)
  if (!account) return denied('invalid_grant', SIGNED_OUT)
  const familyId = deps.families.newId()
  if (!(await deps.codes.use(tx, grant.code, familyId))) {
    // The code was used, or the user was signed out, since it was found.
    const stored = await deps.codes.find(tx, grant.code)
    if (!stored) return denied('invalid_grant', UNKNOWN)
    return endReplayed(deps, tx, request, { ...replay, stored })
  }
  await deps.families.start(tx, pool, { ...code, familyId, origin })
  const { clientId, scope, authTime, nonce } = code
  const content = { familyId, clientId, account, authTime, scope, nonce: nonce ?? undefined }
  return granted(await deps.issuer.issue(tx, content))
}
