import type { Clock } from '#base/clock.ts'
import type { Ids } from '#base/ids.ts'
import type { RequestOrigin } from '#base/request-origin.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { AccountChanges } from '#identity/revocation/account-changes.ts'
import type { UserKey } from '#identity/user-key.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import { deleteExpired } from '#platform/postgres/delete-expired.ts'

import {
  type KeptSignIn,
  type NewFamily,
  deleteRefreshResponses,
  insertFamily,
  revokeFamiliesOfClient,
  revokeFamiliesOfSession,
  revokeFamiliesOfUser,
  revokeSurplusFamilies,
  revokeFamily,
} from './family-queries.ts'
import { SIGN_IN_LIFETIME_MS, lastSeenBefore } from './model.ts'
import { updateLastSeen } from './queries.ts'

/** A family is kept until its last access token has expired, because tokens without a family are refused. */
const KEPT_AFTER_END_MS = 2 * 3_600_000

export type FamilyStart = Pick<
  NewFamily,
  'familyId' | 'clientId' | 'userPoolId' | 'sub' | 'sessionId' | 'scope' | 'authTime'
> & { readonly origin: RequestOrigin }

/** The sign-ins of clients. Each is a family: the refresh tokens that were issued one after the other. */
export class TokenFamilies {
  readonly #clock: Clock
  readonly #ids: Ids
  readonly #changes: AccountChanges

  constructor(deps: { clock: Clock; ids: Ids; changes: AccountChanges }) {
    this.#clock = deps.clock
    this.#ids = deps.ids
    this.#changes = deps.changes
  }

  newId(): string {
    return this.#ids.uuid()
  }

  /** One without a browser session ends those beyond the newest, of which an account may have `maxSessions`. */
  async start(
    tx: SiteTx,
    { settings }: Pick<Pool, 'settings'>,
    { origin, ...start }: FamilyStart,
  ): Promise<void> {
    const createdAt = this.#clock.now()
    await deleteExpired(tx, 'refresh_family', new Date(createdAt.getTime() - KEPT_AFTER_END_MS))
    await insertFamily(tx, {
      ...start,
      address: origin.address,
      userAgent: origin.userAgent,
      createdAt,
      expiresAt: new Date(createdAt.getTime() + SIGN_IN_LIFETIME_MS),
    })
    if (start.sessionId !== null) return
    const ended = await revokeSurplusFamilies(tx, start, settings.maxSessions, createdAt)
    await this.#announced(tx, start.sub, ended)
  }

  /** The browser's session was used, though by a client of it. */
  used(tx: SiteTx, sessionId: string): Promise<void> {
    const now = this.#clock.now()
    return updateLastSeen(tx, sessionId, { now, seenBefore: lastSeenBefore(now) })
  }

  /** Ends a family with its access tokens. Returns whether it was active. */
  async end(tx: SiteTx, user: UserKey, familyId: string): Promise<boolean> {
    const ended = await revokeFamily(tx, user, familyId, this.#clock.now())
    return this.#announced(tx, user.sub, ended)
  }

  async endBySession(tx: SiteTx, user: UserKey, sessionId: string): Promise<boolean> {
    const ended = await revokeFamiliesOfSession(tx, user, sessionId, this.#clock.now())
    return this.#announced(tx, user.sub, ended)
  }

  async endByClient(tx: SiteTx, user: UserKey, clientId: string): Promise<void> {
    const ended = await revokeFamiliesOfClient(tx, user, clientId, this.#clock.now())
    await this.#announced(tx, user.sub, ended)
  }

  async endByUser(tx: SiteTx, user: UserKey, kept: KeptSignIn): Promise<void> {
    const ended = await revokeFamiliesOfUser(tx, user, kept, this.#clock.now())
    if (!(await this.#announced(tx, user.sub, ended))) await this.#changes.userChanged(tx, user.sub)
  }

  async #announced(
    tx: SiteTx,
    sub: string,
    ended: readonly { readonly familyId: string }[],
  ): Promise<boolean> {
    if (ended.length === 0) return false
    await deleteRefreshResponses(
      tx,
      ended.map(({ familyId }) => familyId),
    )
    await this.#changes.userChanged(tx, sub)
    return true
  }
}
