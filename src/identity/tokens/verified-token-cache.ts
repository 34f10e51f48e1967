import { hash } from 'node:crypto'

import { LRUCache } from 'lru-cache'

import type { RevocationState } from '#identity/revocation/revocation-states.ts'
import type { Visitor } from '#identity/visitor.ts'

const MAX_ENTRIES = 50_000
/** A token is verified in full at least this often. */
const MAX_AGE_MS = 60_000

export interface VerifiedVisitorToken {
  readonly visitor: Visitor
  /** `Pool.version` under which the token was verified: issuer, client and keys. */
  readonly poolVersion: string
  readonly expiresAtMs: number
  readonly siteState: RevocationState
  readonly userState: RevocationState
}

/** A token that verified. It is trusted for a while, and only as long as everything it rests on is unchanged. */
export class TrustedToken {
  readonly visitor: Visitor
  readonly #seen: VerifiedVisitorToken
  readonly #trustedUntilMs: number

  constructor(seen: VerifiedVisitorToken, nowMs: number) {
    this.visitor = seen.visitor
    this.#seen = seen
    this.#trustedUntilMs = Math.min(seen.expiresAtMs, nowMs + MAX_AGE_MS)
  }

  /** `poolVersion` is that of the pool of the site that is asked: a token of another site is not valid. */
  stands(poolVersion: string, nowMs: number): boolean {
    const { poolVersion: verifiedUnder, siteState, userState } = this.#seen
    return (
      nowMs < this.#trustedUntilMs &&
      verifiedUnder === poolVersion &&
      siteState.current &&
      userState.current
    )
  }
}

/** Tokens that verified a moment ago, by SHA-256: the tokens themselves are not kept, and failures never. */
export class VerifiedTokenCache {
  readonly #entries = new LRUCache<string, TrustedToken>({ max: MAX_ENTRIES })

  /** Undefined when the token must be verified: unknown, ended, or anything it rests on has changed. */
  get(digest: string, poolVersion: string, nowMs: number): TrustedToken | undefined {
    const entry = this.#entries.get(digest)
    return entry?.stands(poolVersion, nowMs) ? entry : undefined
  }

  set(digest: string, seen: VerifiedVisitorToken, nowMs: number): TrustedToken {
    const entry = new TrustedToken(seen, nowMs)
    this.#entries.set(digest, entry)
    return entry
  }
}

export const tokenDigest = (token: string): string => hash('sha256', token, 'base64url')
