import { DurationHistogram } from '#base/duration-histogram.ts'
import { Tally, TallyTable } from '#base/tally.ts'

import { HOST_ROLES } from './slot-key.ts'

/** What the hosts have done since the start. */
export class SandboxActivity {
  /** By the kind of host that ran them, which is the kind of site: its calls are short, take long, or brought a host down. */
  readonly calls = new TallyTable(HOST_ROLES, ['succeeded', 'failed'])
  /** How long calls waited before they were handed to a host. */
  readonly queueWait = new DurationHistogram()
  /** Hosts that went down while they were connected, by the cause. */
  readonly losses = new Tally(['memoryMb', 'cpuMs', 'other'])
  /** Hosts that gave their place to another because all together had reached their memory, by what they were for. */
  readonly replacements = new Tally(HOST_ROLES)
}
