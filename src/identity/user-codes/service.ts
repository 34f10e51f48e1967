import type { Clock } from '#base/clock.ts'
import type { CodeScope, MailedCodes } from '#identity/mailed-codes.ts'
import type { PoolRequest } from '#identity/pool-request.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

import { type ProofCodeKey, deleteProofCode, takeProofAttempt, upsertProofCode } from './queries.ts'

/** A code that a signed-in user requested, and where it is mailed. */
export interface MailedTo {
  readonly email: string
  readonly lifetimeMs: number
}

/** Mailed codes of accounts that are signed in: one for each purpose and requester. */
export class ProofCodes {
  readonly #clock: Clock
  readonly #codes: MailedCodes

  constructor(deps: { readonly clock: Clock; readonly codes: MailedCodes }) {
    this.#clock = deps.clock
    this.#codes = deps.codes
  }

  /** A newer code replaces the one before. */
  async create(
    tx: SiteTx,
    key: ProofCodeKey,
    { email, lifetimeMs }: MailedTo,
  ): Promise<{ readonly code: string; readonly expiresAt: Date }> {
    const code = this.#codes.create()
    const createdAt = this.#clock.now()
    const expiresAt = new Date(createdAt.getTime() + lifetimeMs)
    const codeHash = this.#codes.hash(scopeOf(tx, key), code)
    await upsertProofCode(tx, { ...key, codeHash, email, createdAt, expiresAt })
    return { code, expiresAt }
  }

  /** The address that the code went to; undefined when it is wrong. The try counts in any case. */
  async take(tx: SiteTx, key: ProofCodeKey, code: string): Promise<string | undefined> {
    const taken = await takeProofAttempt(tx, key, this.#clock.now())
    return this.#codes.matches(taken?.codeHash, scopeOf(tx, key), code) ? taken?.email : undefined
  }

  delete(tx: SiteTx, key: ProofCodeKey): Promise<void> {
    return deleteProofCode(tx, key)
  }
}

/** Whose code it is, by the pool and account of a request. */
export const codeKeyOf = (
  { pool }: PoolRequest,
  key: Omit<ProofCodeKey, 'userPoolId'>,
): ProofCodeKey => ({ userPoolId: pool.userPoolId, ...key })

const scopeOf = (
  { siteId }: SiteTx,
  { userPoolId, sub, purpose, requester }: ProofCodeKey,
): CodeScope => ({ siteId, userPoolId, purpose, id: [sub, requester].join('\n') })
