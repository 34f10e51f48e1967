import type { Clock } from '#base/clock.ts'
import type { CodeScope, MailedCodes } from '#identity/mailed-codes.ts'
import type { UserKey } from '#identity/user-key.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import { deleteExpired } from '#platform/postgres/delete-expired.ts'

import type { UserCodeKey } from './model.ts'
import { deleteUserCodes, takeAttempt, upsertUserCode } from './queries.ts'

/** Where a code is mailed, and how long it is good. */
export interface MailedTo {
  readonly email: string
  readonly lifetimeMs: number
}

/** Mailed codes of accounts: one for each purpose and requester. */
export class UserCodes {
  readonly #clock: Clock
  readonly #codes: MailedCodes

  constructor(deps: { readonly clock: Clock; readonly codes: MailedCodes }) {
    this.#clock = deps.clock
    this.#codes = deps.codes
  }

  /** A newer code replaces the one before. */
  async create(
    tx: SiteTx,
    key: UserCodeKey,
    to: MailedTo,
  ): Promise<{ readonly code: string; readonly expiresAt: Date }> {
    const { code, expiresAt } = await this.#store(tx, key, to)
    return { code, expiresAt }
  }

  /** As `create`, by a job that may run again: undefined when its request has a code. */
  async createOnce(
    tx: SiteTx,
    key: UserCodeKey,
    to: MailedTo & { readonly requestId: string | undefined },
  ): Promise<string | undefined> {
    const { code, isStored } = await this.#store(tx, key, to)
    return isStored ? code : undefined
  }

  /** The address that the code went to; undefined when it is wrong. The try counts in any case. */
  async take(tx: SiteTx, key: UserCodeKey, code: string): Promise<string | undefined> {
    const taken = await takeAttempt(tx, key, this.#clock.now())
    return this.#codes.matches(taken?.codeHash, scopeOf(tx, key), code) ? taken?.email : undefined
  }

  delete(tx: SiteTx, key: UserCodeKey): Promise<void> {
    return deleteUserCodes(tx, key)
  }

  /** Those of every requester. */
  deleteResets(tx: SiteTx, { userPoolId, sub }: UserKey): Promise<void> {
    return deleteUserCodes(tx, { userPoolId, sub, purpose: 'reset' })
  }

  async #store(
    tx: SiteTx,
    key: UserCodeKey,
    { email, lifetimeMs, requestId }: MailedTo & { readonly requestId?: string | undefined },
  ) {
    const code = this.#codes.create()
    const createdAt = this.#clock.now()
    const expiresAt = new Date(createdAt.getTime() + lifetimeMs)
    const codeHash = this.#codes.hash(scopeOf(tx, key), code)
    const row = { ...key, codeHash, email, createdAt, expiresAt, requestId }
    const isStored = await upsertUserCode(tx, row)
    await deleteExpired(tx, 'user_code', createdAt)
    return { code, expiresAt, isStored }
  }
}

/** A reset's code is also taken from another network than the one that requested it. */
const scopeOf = (
  { siteId }: SiteTx,
  { userPoolId, sub, purpose, requester }: UserCodeKey,
): CodeScope => ({
  siteId,
  userPoolId,
  purpose,
  id: purpose === 'reset' ? sub : [sub, requester].join('\n'),
})
