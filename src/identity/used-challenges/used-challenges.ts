import type { Clock } from '#base/clock.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import { deleteExpired } from '#platform/postgres/delete-expired.ts'

import { type UsedChallenge, type UsedChallengeTable, insertUsedChallenge } from './queries.ts'

/** Challenges of one kind that were answered: each takes one answer. */
export class UsedChallenges {
  readonly #clock: Clock
  readonly #table: UsedChallengeTable

  constructor(deps: { readonly clock: Clock }, table: UsedChallengeTable) {
    this.#clock = deps.clock
    this.#table = table
  }

  /** False for one that was answered before, rightly or wrongly. */
  async use(tx: SiteTx, challenge: UsedChallenge): Promise<boolean> {
    await deleteExpired(tx, this.#table, this.#clock.now())
    return insertUsedChallenge(tx, this.#table, challenge)
  }
}
