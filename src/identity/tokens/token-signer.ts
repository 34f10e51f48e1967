import { SignJWT } from 'jose'

import type { Ids } from '#base/ids.ts'
import type { SigningKeys } from '#identity/keys/signing-keys.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { Site } from '#sites/site.ts'

import {
  type TokenSignIn,
  type TokenSubject,
  type TokenTimes,
  type TokenUse,
  newTokenClaims,
  tokenTypeOf,
} from './claims.ts'

export interface SignedToken {
  readonly token: string
  readonly expiresAt: Date
}

/** Makes the tokens of a pool, for sign-ins and for the operator. */
export class TokenSigner {
  readonly #signingKeys: SigningKeys
  readonly #ids: Ids

  constructor(deps: { signingKeys: SigningKeys; ids: Ids }) {
    this.#signingKeys = deps.signingKeys
    this.#ids = deps.ids
  }

  /** So that signing, later, cannot fail any more for want of the key. */
  async prepare(site: Site, pool: Pool): Promise<void> {
    await this.#signingKeys.signer(site, pool)
  }

  async sign(
    site: Site,
    pool: Pool,
    use: TokenUse,
    content: {
      readonly subject: TokenSubject
      readonly times: TokenTimes
      readonly signIn?: TokenSignIn
    },
  ): Promise<SignedToken> {
    const { kid, key } = await this.#signingKeys.signer(site, pool)
    const claims = newTokenClaims(pool, use, content.subject, {
      ...content.times,
      jti: this.#ids.uuid(),
      signIn: content.signIn,
    })
    const token = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', kid, typ: tokenTypeOf(claims) })
      .sign(key)
    return { token, expiresAt: new Date(claims.exp * 1000) }
  }
}
