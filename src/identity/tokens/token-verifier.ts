import { Value } from '@sinclair/typebox/value'
import { type CompactVerifyResult, compactVerify } from 'jose'
import { JOSEError } from 'jose/errors'

import type { Clock } from '#base/clock.ts'
import { isPublished } from '#identity/keys/model.ts'
import type { PoolDirectory } from '#identity/pools/directory.ts'
import type { Pool, PoolKind } from '#identity/pools/model.ts'
import type { Site } from '#sites/site.ts'

import { refusalOf } from './checks.ts'
import { TokenClaims, type TokenUse } from './claims.ts'
import { unauthorized } from './refusals.ts'

export interface Verified {
  readonly claims: TokenClaims
  readonly pool: Pool
  /** Right in everything else: the caller checks the user too, and only then answers `TokenExpired`. */
  readonly expired: boolean
}

/** Where the pools of a site come from; `refreshed` looks again for a key that is not known. */
export type PoolSource = Pick<PoolDirectory, 'get' | 'refreshed'>

/** Signature and claims of a token, against the pool of the site that the request was sent to. */
export class TokenVerifier {
  readonly #directory: PoolSource
  readonly #clock: Clock

  constructor(deps: { directory: PoolSource; clock: Clock }) {
    this.#directory = deps.directory
    this.#clock = deps.clock
  }

  async verify(
    site: Site,
    kind: PoolKind,
    token: string,
    uses: readonly TokenUse[],
  ): Promise<Verified> {
    requireCanonical(token)
    let pool = (await this.#directory.get(site))[kind]
    const result = await signatureOf(token, async (kid) => {
      if (!pool.keys.has(kid)) pool = (await this.#directory.refreshed(site))[kind]
      return this.#key(pool, kid)
    })
    const claims = parseClaims(result.payload)
    const nowSeconds = this.#clock.now().getTime() / 1000
    const refusal = refusalOf({ header: result.protectedHeader, claims, pool, uses, nowSeconds })
    if (refusal !== undefined) throw unauthorized(refusal)
    return { claims, pool, expired: claims.exp <= nowSeconds }
  }

  #key(pool: Pool, kid: string): CryptoKey {
    const known = pool.keys.get(kid)
    if (!known || !isPublished(known, this.#clock.now().getTime())) throw unauthorized('kid')
    return known.key
  }
}

/** The last character of base64url carries unused bits: without this, one signature would have sixteen spellings. */
function requireCanonical(token: string): void {
  const signature = token.slice(token.lastIndexOf('.') + 1)
  if (Buffer.from(signature, 'base64url').toString('base64url') !== signature) {
    throw unauthorized('signature')
  }
}

async function signatureOf(
  token: string,
  keyOf: (kid: string) => Promise<CryptoKey>,
): Promise<CompactVerifyResult> {
  try {
    return await compactVerify(token, ({ kid }) => keyOf(typeof kid === 'string' ? kid : ''), {
      algorithms: ['RS256'],
    })
  } catch (error) {
    // A database that is down is not the token's fault.
    throw error instanceof JOSEError ? unauthorized(error.code) : error
  }
}

function parseClaims(payload: Uint8Array): TokenClaims {
  let claims: unknown
  try {
    claims = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload))
  } catch {
    throw unauthorized('payload')
  }
  if (!Value.Check(TokenClaims, claims)) throw unauthorized('claims')
  return claims
}
