import type { FoundCode } from '#identity/authorization/codes.ts'
import type { PoolRequest } from '#identity/pool-request.ts'
import type { Pool } from '#identity/pools/model.ts'
import { lockAccountOfSignIn } from '#identity/sessions/session-accounts.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

import { type GrantResult, granted, denied } from './oauth-error.ts'
import { matchesChallenge } from './pkce.ts'
import type { IssuedTokenSet, TokenIssuer } from './token-issuer.ts'
import type { TokenSetsDeps } from './token-sets-deps.ts'

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
    description: 'code_verifier does not belong to the code',
    is: (code, { codeVerifier }) => !matchesChallenge(codeVerifier, code.codeChallenge),
  },
]
const UNKNOWN = 'code is not known'
const USED = 'code was used already'
const SIGNED_OUT = 'The user has been signed out'

/** Turns a code into the first tokens of a sign-in. A second use ends what came of the first (RFC 6749 section 4.1.2). */
export class CodeExchange {
  readonly #deps: TokenSetsDeps
  readonly #issuer: TokenIssuer

  constructor(deps: TokenSetsDeps, issuer: TokenIssuer) {
    this.#deps = deps
    this.#issuer = issuer
  }

  async run(
    tx: SiteTx,
    request: PoolRequest,
    grant: CodeGrant,
  ): Promise<GrantResult<IssuedTokenSet>> {
    const { pool, origin } = request
    const code = await this.#deps.codes.find(tx, grant.code)
    if (!code) return denied('invalid_grant', UNKNOWN)
    const fault = CHECKS.find(({ is }) => is(code, grant, pool))
    // For a code of another pool or client, the error says no more than that.
    if (fault) return denied('invalid_grant', fault.description)
    if (code.familyId !== null) return this.#replayed(tx, request, code)
    const account = await lockAccountOfSignIn(tx, pool, code)
    if (!account) return denied('invalid_grant', SIGNED_OUT)
    const familyId = this.#deps.families.newId()
    if (!(await this.#deps.codes.use(tx, grant.code, familyId)))
      return this.#lostRace(tx, request, grant)
    await this.#deps.families.start(tx, { ...code, familyId, origin })
    const { clientId, scope, authTime, nonce } = code
    const content = { familyId, clientId, account, authTime, scope, nonce: nonce ?? undefined }
    return granted(await this.#issuer.issue(tx, content))
  }

  /** The code was used, or the user was signed out, since it was found. */
  async #lostRace(tx: SiteTx, request: PoolRequest, grant: CodeGrant): Promise<GrantResult<never>> {
    const code = await this.#deps.codes.find(tx, grant.code)
    return code ? this.#replayed(tx, request, code) : denied('invalid_grant', UNKNOWN)
  }

  async #replayed(
    tx: SiteTx,
    { pool, origin }: PoolRequest,
    code: FoundCode,
  ): Promise<GrantResult<never>> {
    const { sub, familyId, clientId } = code
    if (familyId !== null) await this.#deps.families.end(tx, code, familyId)
    const event = 'authorization-code.replayed'
    await this.#deps.events.record(tx, { event, pool: pool.kind, sub, clientId, origin })
    return denied('invalid_grant', USED)
  }
}
