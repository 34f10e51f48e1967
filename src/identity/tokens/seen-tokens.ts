import { hash } from 'node:crypto'

import { LRUCache } from 'lru-cache'

import type { Visitor } from '#identity/visitor.ts'

import type { Validity } from './validity.ts'

const REMEMBERED = 50_000
/** A token is verified in full at least this often. */
const MAX_AGE_MS = 60_000

export interface SeenVisitor {
  readonly visitor: Visitor
  /** `Pool.version` under which the token was verified: issuer, client and keys. */
  readonly poolVersion: string
  readonly expiresAtMs: number
  readonly site: Validity
  readonly user: Validity
}

interface Entry extends SeenVisitor {
  readonly trustedUntilMs: number
}

/** Tokens that verified a moment ago, by SHA-256: the tokens themselves are not kept, and failures never. */
export class SeenTokens {
  readonly #entries = new LRUCache<string, Entry>({ max: REMEMBERED })

  /** Undefined when the token must be verified: unknown, ended, or anything it rests on has changed. */
  find(digest: string, poolVersion: string, nowMs: number): Visitor | undefined {
    const entry = this.#entries.get(digest)
    if (entry === undefined) return undefined
    const stands =
      nowMs < entry.trustedUntilMs &&
      entry.poolVersion === poolVersion &&
      entry.site.current &&
      entry.user.current
    return stands ? entry.visitor : undefined
  }

  remember(digest: string, seen: SeenVisitor, nowMs: number): void {
    const trustedUntilMs = Math.min(seen.expiresAtMs, nowMs + MAX_AGE_MS)
    this.#entries.set(digest, { ...seen, trustedUntilMs })
  }
}

export const digestOf = (token: string): string => hash('sha256', token, 'base64url')
