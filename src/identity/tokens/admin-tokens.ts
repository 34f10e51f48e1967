import type { Actor } from '#identity/actor.ts'
import { type AccountStatus, type AccountStatusKey, isRevoked } from '#identity/users/model.ts'
import type { Users } from '#identity/users/service.ts'
import type { Site } from '#sites/site.ts'

import { bearerToken } from './bearer.ts'
import { tokenExpired, unauthorized } from './refusals.ts'
import type { TokenVerifier } from './token-verifier.ts'

/** Reads what `Users.standing` reads, at that moment. */
export type ReadAccountStatus = (subject: AccountStatusKey) => Promise<AccountStatus | undefined>

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
   * else in the same trip gives `readStanding`.
   */
  async verify(
    site: Site,
    authorization: string | undefined,
    readStanding?: ReadAccountStatus,
  ): Promise<Actor> {
    const token = bearerToken(authorization)
    const { claims, pool, expired } = await this.#verifier.verify(site, 'admin', token, [
      'id',
      'access',
    ])
    const { userPoolId } = pool
    const { sub: userId, origin_jti: familyId } = claims
    const standing = readStanding
      ? await readStanding({ userPoolId, sub: userId, familyId })
      : await this.#users.accountStatus(site, userPoolId, claims)
    if (!standing || standing.role === null || isRevoked(standing, claims.iat)) {
      throw unauthorized('user')
    }
    if (expired) throw tokenExpired()
    return { userId, email: standing.email, role: standing.role, familyId }
  }
}
