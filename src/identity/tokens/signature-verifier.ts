import { Value } from '@sinclair/typebox/value'
import { type CompactVerifyResult, compactVerify } from 'jose'
import { JOSEError } from 'jose/errors'
import { LRUCache } from 'lru-cache'

import { TokenClaims } from './claims.ts'
import { unauthorized } from './refusals.ts'
import { tokenDigest } from './verified-token-cache.ts'

const MAX_ENTRIES = 10_000

/** What a token says, once its signature is known to be right. */
export interface VerifiedSignature {
  readonly header: CompactVerifyResult['protectedHeader']
  readonly claims: TokenClaims
}

/** Throws when the pool has no such key, or has it no more. */
export type FindVerificationKey = (kid: string) => CryptoKey | Promise<CryptoKey>

interface Entry extends VerifiedSignature {
  readonly kid: string
  readonly key: CryptoKey
}

/**
 * Checks signatures, of the same token under the same key once: what is remembered can only be computed again. Whether
 * the key counts, and the token does, is for the caller to ask each time. By SHA-256: the tokens are not kept.
 */
export class SignatureVerifier {
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
