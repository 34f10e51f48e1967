import { DurationHistogram } from '#base/duration-histogram.ts'
import { Tally } from '#base/tally.ts'

/** What was asked of Redis since the start. */
export class RedisActivity {
  /** `skipped`: Redis had not answered shortly before, and was not asked. */
  readonly commands = new Tally(['answered', 'failed', 'skipped'])
  readonly durations = new DurationHistogram()
}
