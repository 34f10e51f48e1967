import type { Clock } from '#base/clock.ts'
import { SingleFlight } from '#base/single-flight.ts'
import type { PoolDirectory } from '#identity/pools/directory.ts'
import type { Pool } from '#identity/pools/model.ts'
import { scopesOf } from '#identity/pools/scopes.ts'
import type { RevocationStates } from '#identity/revocation/revocation-states.ts'
import { type AccountStatus, isRevoked } from '#identity/users/model.ts'
import type { Users } from '#identity/users/users.ts'
import { type Visitor, visitorOf } from '#identity/visitor.ts'
import type { Site } from '#sites/site.ts'

import { bearerToken } from './bearer.ts'
import type { TokenClients } from './claim-checks.ts'
import type { TokenClaims } from './claims.ts'
import { RecognizedHeaders } from './recognized-headers.ts'
import { tokenExpired, unauthorized } from './refusals.ts'
import type { TokenVerifier } from './token-verifier.ts'
import { VerifiedTokenCache, tokenDigest } from './verified-token-cache.ts'

/** An access token that was verified just now, not taken from the cache. */
export interface FreshVisitorToken {
  readonly pool: Pool
  readonly sub: string
  /** The sign-in behind the token; undefined for one that the operator minted. */
  readonly familyId: string | undefined
  readonly issuedAtSeconds: number
  /** When the visitor proved who they are. */
  readonly authTime: Date
}

/** Access tokens of a site's data pool, as `/data` takes them. */
export class VisitorTokens {
  readonly #deps
  readonly #seen = new VerifiedTokenCache()
  readonly #recognized = new RecognizedHeaders()
  readonly #flights = new SingleFlight<string, Visitor>()

  constructor(deps: {
    readonly directory: PoolDirectory
    readonly verifier: TokenVerifier
    readonly users: Users
    readonly revocationStates: RevocationStates
    readonly clock: Clock
  }) {
    this.#deps = deps
  }

  /** The visitor of exactly this header, where its token verified on this site within the last minute; nothing is refused here. */
  recognized(site: Site, authorization: string): Visitor | undefined {
    const nowMs = this.#deps.clock.now().getTime()
    const token = this.#recognized.get(authorization, nowMs)
    const pools = token && this.#deps.directory.cached(site, nowMs)
    return pools && token.stands(pools.data.version, nowMs) ? token.visitor : undefined
  }

  /** Answers, or throws, at once for a token that verified within the last minute and for a header that carries none. */
  verify(site: Site, authorization: string | undefined): Visitor | Promise<Visitor> {
    const token = bearerToken(authorization)
    const digest = tokenDigest(token)
    const pools = this.#deps.directory.cached(site)
    const nowMs = this.#deps.clock.now().getTime()
    const seen = pools && this.#seen.get(digest, pools.data.version, nowMs)
    if (!seen) {
      return this.#flights.run(`${site.siteId} ${digest}`, () => this.#verify(site, token, digest))
    }
    if (authorization !== undefined) this.#recognized.set(authorization, seen, nowMs)
    return seen.visitor
  }

  /** Bypasses the cache, for what an account's owner alone may do. */
  async verifyFresh(site: Site, authorization: string | undefined): Promise<FreshVisitorToken> {
    const { claims, pool } = await this.#check(site, bearerToken(authorization), 'own')
    return {
      pool,
      sub: claims.sub,
      familyId: claims.origin_jti,
      issuedAtSeconds: claims.iat,
      authTime: new Date(claims.auth_time * 1000),
    }
  }

  async #verify(site: Site, token: string, digest: string): Promise<Visitor> {
    const siteState = this.#deps.revocationStates.ofSite(site.siteId)
    const { claims, pool, status, userState } = await this.#check(site, token, 'any')
    const { sub, username } = claims
    const visitor = visitorOf(
      { sub, username, groups: groupsOf(claims, status) },
      grantOf(claims, pool),
    )
    this.#seen.set(
      digest,
      {
        visitor,
        poolVersion: pool.version,
        expiresAtMs: claims.exp * 1000,
        siteState: siteState,
        userState: userState,
      },
      this.#deps.clock.now().getTime(),
    )
    return visitor
  }

  async #check(site: Site, token: string, clients: TokenClients) {
    const { claims, pool, expired } = await this.#deps.verifier.verify(site, 'data', token, {
      uses: ['access'],
      clients,
    })
    const userState = this.#deps.revocationStates.ofUser(site.siteId, claims.sub)
    const status = await this.#deps.users.accountStatus(site, pool.userPoolId, claims)
    if (!status || isRevoked(status, claims.iat)) throw unauthorized('user')
    if (expired) throw tokenExpired()
    return { claims, pool, status, userState }
  }
}

/** What the operator mints has no sign-in behind it, and no bounds. */
const grantOf = (
  { origin_jti: familyId, scope, client_id: clientId }: TokenClaims,
  pool: Pool,
) => ({
  scopes: familyId === undefined ? undefined : new Set(scopesOf(scope ?? '')),
  isThirdParty: pool.clients.get(clientId ?? '')?.application?.isThirdParty ?? false,
})

/** The groups as they are now. A token that the operator minted without a sign-in may add others. */
function groupsOf(claims: TokenClaims, { groups }: AccountStatus): readonly string[] {
  if (claims.origin_jti !== undefined) return groups
  return [...new Set([...groups, ...(claims['cognito:groups'] ?? [])])]
}
