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

interface Entry extends VerifiedVisitorToken {
  readonly trustedUntilMs: number
}

/** Tokens that verified a moment ago, by SHA-256: the tokens themselves are not kept, and failures never. */
export class VerifiedTokenCache {
  readonly #entries = new LRUCache<string, Entry>({ max: MAX_ENTRIES })

  /** Undefined when the token must be verified: unknown, ended, or anything it rests on has changed. */
  get(digest: string, poolVersion: string, nowMs: number): Visitor | undefined {
    const entry = this.#entries.get(digest)
    if (entry === undefined) return undefined
    const stands =
      nowMs < entry.trustedUntilMs &&
      entry.poolVersion === poolVersion &&
      entry.siteState.current &&
      entry.userState.current
    return stands ? entry.visitor : undefined
  }

  set(digest: string, seen: VerifiedVisitorToken, nowMs: number): void {
    const trustedUntilMs = Math.min(seen.expiresAtMs, nowMs + MAX_AGE_MS)
    this.#entries.set(digest, { ...seen, trustedUntilMs })
  }
}

export const tokenDigest = (token: string): string => hash('sha256', token, 'base64url')
