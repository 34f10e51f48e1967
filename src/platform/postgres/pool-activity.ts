import { DurationHistogram } from '#base/duration-histogram.ts'
import { Tally } from '#base/tally.ts'

/** What the connections of a pool have done since the start. */
export class PoolActivity {
  /** How long statements took, until their answer or their failure. */
  readonly statements = new DurationHistogram()
  /** How long those waited who found no connection free. */
  readonly waits = new DurationHistogram()
  /**
   * Statements that ended without their answer: the connection was lost, none came free in time, the database did not answer at
   * all.
   */
  readonly failures = new Tally(['lost', 'busy', 'away'])
}

export interface PoolStatus {
  readonly max: number
  readonly open: number
  readonly busy: number
  /** Who waits for a connection. */
  readonly waiting: number
  readonly activity: PoolActivity
}
