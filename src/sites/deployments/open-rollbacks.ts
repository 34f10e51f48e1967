import type { Queue } from '#platform/queue/queue.ts'

import { AutomaticRollbacks, type AutomaticRollbacksDeps } from './automatic-rollbacks.ts'
import { Rollbacks } from './rollbacks.ts'

/** What operators roll back; what is taken back for them begins to be worked. */
export function openRollbacks(deps: AutomaticRollbacksDeps & { readonly queue: Queue }): Rollbacks {
  new AutomaticRollbacks(deps).serve(deps.queue)
  return new Rollbacks(deps)
}
