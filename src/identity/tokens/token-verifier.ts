import { Value } from '@sinclair/typebox/value'
import { type CompactVerifyResult, compactVerify } from 'jose'
import { JOSEError } from 'jose/errors'
import { LRUCache } from 'lru-cache'

import { AppError } from '#base/app-error.ts'
import type { Clock } from '#base/clock.ts'
import { isPublished } from '#identity/keys/model.ts'
import type { PoolKind } from '#identity/pool-kind.ts'
import type { PoolDirectory } from '#identity/pools/directory.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { Site } from '#sites/site.ts'

import { type TokenClients, clientIdOf, failedClaimCheck } from './claim-checks.ts'
import { TokenClaims, type TokenUse } from './claims.ts'
import { unauthorized } from './refusals.ts'
import { tokenDigest } from './verified-token-cache.ts'

const MAX_ENTRIES = 10_000

export interface Verified {
  readonly claims: TokenClaims
  readonly pool: Pool
  /** Everything else is valid. The caller checks the user first and then throws `TokenExpired`. */
  readonly expired: boolean
}

/** What a token is taken for. */
interface TokenPurpose {
  readonly uses: readonly TokenUse[]
  readonly clients: TokenClients
}

/** Where the pools of a site come from; `reload` looks again for a key that is not known. */
export type PoolSource = Pick<PoolDirectory, 'get' | 'reload'>

/** What a token says, once its signature is known to be right. */
interface VerifiedSignature {
  readonly header: CompactVerifyResult['protectedHeader']
  readonly claims: TokenClaims
}

/** Throws when the pool has no such key, or has it no more. */
type FindVerificationKey = (kid: string) => CryptoKey | Promise<CryptoKey>

interface Entry extends VerifiedSignature {
  readonly kid: string
  readonly key: CryptoKey
}

/** Signature and claims of a token, against the pool of the site that the request was sent to. */
export class TokenVerifier {
  readonly #directory: PoolSource
  readonly #clock: Clock
  readonly #signed = new SignatureVerifier()

  constructor(deps: { directory: PoolSource; clock: Clock }) {
    this.#directory = deps.directory
    this.#clock = deps.clock
  }

  async verify(
    site: Site,
    kind: PoolKind,
    token: string,
    purpose: TokenPurpose,
  ): Promise<Verified> {
    let pool = (await this.#directory.get(site))[kind]
    const { header, claims } = await this.#signed.verify(token, async (kid) => {
      if (!pool.keys.has(kid)) pool = await this.#directory.reload(site, kind)
      return this.#key(pool, kid)
    })
    const nowSeconds = this.#clock.now().getTime() / 1000
    const refusal = failedClaimCheck({ header, claims, pool, ...purpose, nowSeconds })
    if (refusal !== undefined) throw unauthorized(refusal)
    return { claims, pool, expired: claims.exp <= nowSeconds }
  }

  /**
   * The user and the client of an `id_token_hint`. It may have expired: it is the client's expectation and no proof. Undefined
   * for what is no id token of this pool.
   */
  async hinted(
    site: Site,
    pool: Pool,
    hint: string,
  ): Promise<{ readonly sub: string; readonly clientId: string } | undefined> {
    try {
      const { claims } = await this.verify(site, pool.kind, hint, { uses: ['id'], clients: 'any' })
      return { sub: claims.sub, clientId: clientIdOf(claims) }
    } catch (error) {
      if (error instanceof AppError && error.code === 'Unauthorized') return undefined
      throw error
    }
  }

  #key(pool: Pool, kid: string): CryptoKey {
    const published = pool.keys.get(kid)
    if (!published || !isPublished(published, this.#clock.now().getTime()))
      throw unauthorized('kid')
    return published.key
  }
}

/**
 * Checks signatures, of the same token under the same key once: what is remembered can only be computed again. Whether
 * the key counts, and the token does, is for the caller to ask each time. By SHA-256: the tokens are not kept.
 */
class SignatureVerifier {
  readonly #entries = new LRUCache<string, Entry>({ max: MAX_ENTRIES })

  /** Throws `Unauthorized`, and what `keyOf` throws. */
  async verify(token: string, keyOf: FindVerificationKey): Promise<VerifiedSignature> {
    const digest = tokenDigest(token)
    const kept = this.#entries.get(digest)
    if (kept && (await keyOf(kept.kid)) === kept.key) return kept
    const entry = await verified(token, keyOf)
    this.#entries.set(digest, entry)
    return entry
  }
}

async function verified(token: string, keyOf: FindVerificationKey): Promise<Entry> {
  requireCanonical(token)
  const { protectedHeader: header, payload, key } = await signatureOf(token, keyOf)
  return { header, claims: parseClaims(payload), kid: header.kid ?? '', key }
}

/** The last character of base64url carries unused bits: without this, one signature would have sixteen spellings. */
function requireCanonical(token: string): void {
  const signature = token.slice(token.lastIndexOf('.') + 1)
  if (Buffer.from(signature, 'base64url').toString('base64url') !== signature) {
    throw unauthorized('signature')
  }
}

async function signatureOf(token: string, keyOf: FindVerificationKey) {
  try {
    return await compactVerify(
      token,
      async ({ kid }) => keyOf(typeof kid === 'string' ? kid : ''),
      { algorithms: ['RS256'] },
    )
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
  return Object.freeze(claims)
}
