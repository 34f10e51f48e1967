import { DurationHistogram } from '#base/duration-histogram.ts'
import { Tally } from '#base/tally.ts'

import type { AttemptResult } from './run-attempts.ts'

/** What runs of jobs came to in this process since the start. */
export class JobActivity {
  readonly attempts = new Tally<'succeeded' | 'failed' | 'timed_out' | 'retried'>([
    'succeeded',
    'failed',
    'timed_out',
    'retried',
  ])
  readonly durations = new DurationHistogram()
  /** How long after their time ticks were turned into runs. */
  readonly tickDelays = new DurationHistogram()

  ended(status: AttemptResult['status'], durationMs: number): void {
    this.attempts.add(NAMES[status])
    this.durations.observe(durationMs)
  }
}

const NAMES = {
  succeeded: 'succeeded',
  failed: 'failed',
  timedOut: 'timed_out',
  queued: 'retried',
} as const
