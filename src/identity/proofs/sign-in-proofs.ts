import { AppError } from '#base/app-error.ts'
import type { Clock } from '#base/clock.ts'
import type { PoolRequest } from '#identity/pool-request.ts'
import type { Database } from '#platform/postgres/database.ts'

import { releaseSignIn, selectFreshSignIn, takeSignIn } from './sign-in-queries.ts'

/** How long after a sign-in it is a proof. */
const FRESH_MS = 5 * 60_000

/** An account, and the sign-in that a token of it comes from. */
export interface ProvingSignIn {
  readonly sub: string
  /** `origin_jti`. */
  readonly familyId: string | undefined
}

/**
 * Cognito's API has no field for a proof, so a sign-in over it is one: by password or passkey, minutes ago, and for one change.
 * Sign-ins on the pages are none, because scripts get tokens of them without a secret. 403 `RecentSignInRequired` for all else.
 */
export class SignInProofs {
  readonly #database: Database
  readonly #clock: Clock

  constructor(deps: { readonly database: Database; readonly clock: Clock }) {
    this.#database = deps.database
    this.#clock = deps.clock
  }

  /** Whether there is one, used or not: for what a thief gains nothing by. */
  async requireFresh(request: PoolRequest, signedIn: ProvingSignIn): Promise<void> {
    if ((await this.#find(request, signedIn)) === undefined) throw signInNeeded()
  }

  /** Looks, before a change of several requests begins. */
  async requireUnused(request: PoolRequest, signedIn: ProvingSignIn): Promise<void> {
    const found = await this.#find(request, signedIn)
    if (found === undefined || found.usedAt !== null) throw signInNeeded()
  }

  /** Uses it up for the work; work that fails gives it back. */
  async use<Result>(
    request: PoolRequest,
    signedIn: ProvingSignIn,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const { siteId } = request.site
    const { userPoolId } = request.pool
    const { sub, familyId } = signedIn
    if (familyId === undefined) throw signInNeeded()
    const key = { userPoolId, sub, familyId }
    const now = this.#clock.now()
    const since = new Date(now.getTime() - FRESH_MS)
    const taken = await this.#database.withSite(siteId, (tx) => takeSignIn(tx, key, { now, since }))
    if (!taken) throw signInNeeded()
    try {
      return await work()
    } catch (error) {
      await this.#database.withSite(siteId, (tx) => releaseSignIn(tx, key))
      throw error
    }
  }

  #find({ site, pool }: PoolRequest, { sub, familyId }: ProvingSignIn) {
    if (familyId === undefined) return Promise.resolve(undefined)
    const key = { userPoolId: pool.userPoolId, sub, familyId }
    const since = new Date(this.#clock.now().getTime() - FRESH_MS)
    return this.#database.withSite(site.siteId, (tx) => selectFreshSignIn(tx, key, since))
  }
}

const signInNeeded = (): AppError =>
  new AppError(
    'RecentSignInRequired',
    'This needs a sign-in over this API, by password or passkey, of the last 5 minutes that changed nothing yet: sign in again, then retry',
  )
