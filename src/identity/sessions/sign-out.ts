import type { Actor } from '#base/actor.ts'
import type { Clock } from '#base/clock.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'
import type { UserKey } from '#identity/user-key.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

import type { TokenFamilies } from './families.ts'
import { type KeptSignIn, selectSessionOfFamily } from './family-queries.ts'
import type { SignInCodes } from './model.ts'
import { deleteSessionsOfUser, updateValidAfter } from './queries.ts'

export interface SignOutOptions {
  readonly by: Actor
  /** The one sign-in that goes on: the id of a session, or of a token's family (`origin_jti`). */
  readonly sessionId?: string | undefined
}

export class SignOut {
  readonly #deps

  constructor(deps: {
    readonly clock: Clock
    readonly families: TokenFamilies
    readonly codes: SignInCodes
    readonly events: SecurityEvents
  }) {
    this.#deps = deps
  }

  /** Ends every sign-in of a user, with its tokens and codes, when the transaction commits; on all replicas. */
  async everywhere(
    tx: SiteTx,
    pool: Pick<Pool, 'userPoolId' | 'kind'>,
    sub: string,
    { sessionId: goesOn, by }: SignOutOptions,
  ): Promise<void> {
    const user = { userPoolId: pool.userPoolId, sub }
    // This comes first because it locks the user: sign-ins and exchanges happen wholly before or wholly after.
    const moved = goesOn === undefined ? ('all-tokens' as const) : ('sign-ins' as const)
    await updateValidAfter(tx, user, moved, this.#deps.clock.now())
    const kept = await keptOf(tx, user, goesOn)
    await deleteSessionsOfUser(tx, user, kept.sessionId)
    await this.#deps.codes.endByUser(tx, user, kept.sessionId)
    await this.#deps.families.endByUser(tx, user, kept)
    await this.#deps.events.record(tx, {
      event: 'sessions.revoked',
      pool: pool.kind,
      sub,
      by,
    })
  }
}

/** A family is kept together with its browser session and the other families of that browser. */
async function keptOf(tx: SiteTx, user: UserKey, goesOn: string | undefined): Promise<KeptSignIn> {
  if (goesOn === undefined) return { sessionId: null, familyId: null }
  const family = await selectSessionOfFamily(tx, user, goesOn)
  return family
    ? { sessionId: family.sessionId, familyId: goesOn }
    : { sessionId: goesOn, familyId: null }
}
