import type { UserActor } from '#base/actor.ts'
import type { RequestOrigin } from '#base/request-origin.ts'
import { type AccountStatus, type AccountStatusKey, isRevoked } from '#identity/users/model.ts'
import type { Users } from '#identity/users/users.ts'
import type { Site } from '#sites/site.ts'

import { bearerToken } from './bearer.ts'
import { tokenExpired, unauthorized } from './refusals.ts'
import type { TokenVerifier } from './token-verifier.ts'

/** Reads what `Users.accountStatus` reads, at that moment. */
export type ReadAccountStatus = (subject: AccountStatusKey) => Promise<AccountStatus | undefined>

/** A request, and the credentials that it carries. */
interface AdminCall {
  readonly authorization: string | undefined
  readonly origin: RequestOrigin
}

/** Tokens of a site's admin pool, as `/admin` takes them: id or access. */
export class AdminTokens {
  readonly #verifier: TokenVerifier
  readonly #users: Users

  constructor(deps: { verifier: TokenVerifier; users: Users }) {
    this.#verifier = deps.verifier
    this.#users = deps.users
  }

  /**
   * Role and existence of the user are read at each call, so that what was taken away is gone at once. Who reads something
   * else in the same trip gives `readStatus`.
   */
  async verify(
    site: Site,
    { authorization, origin }: AdminCall,
    readStatus?: ReadAccountStatus,
  ): Promise<UserActor> {
    const token = bearerToken(authorization)
    const { claims, pool, expired } = await this.#verifier.verify(site, 'admin', token, {
      uses: ['id', 'access'],
      clients: 'own',
    })
    const { userPoolId } = pool
    const { sub: userId, origin_jti: familyId } = claims
    const status = readStatus
      ? await readStatus({ userPoolId, sub: userId, familyId })
      : await this.#users.accountStatus(site, userPoolId, claims)
    if (!status || status.role === null || isRevoked(status, claims.iat)) {
      throw unauthorized('user')
    }
    if (expired) throw tokenExpired()
    const signedInAt = new Date(claims.auth_time * 1000)
    const { email, role } = status
    return { type: 'user', userId, email, role, familyId, signedInAt, origin }
  }
}
