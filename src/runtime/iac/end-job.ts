import type { Clock } from '#base/clock.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { Revisions } from '#runtime/revisions/revisions.ts'

import { hasChanges, skipPending } from './change-queries.ts'
import type { IacJob, IacStatus } from './model.ts'
import { updateFinished } from './queries.ts'

/**
 * Ends a job, however it went: what was not done is skipped, the sealed definition is dropped, and what was done is
 * published as one revision. The caller has locked the site.
 */
export async function endIacJob(
  tx: SiteTx,
  job: IacJob,
  { status, error }: { readonly status: IacStatus; readonly error?: string },
  { revisions, clock }: { readonly revisions: Pick<Revisions, 'request'>; readonly clock: Clock },
): Promise<void> {
  await skipPending(tx, job.number)
  await updateFinished(tx, job.number, { status, error: error ?? null, at: clock.now() })
  // A deployment brought new code, whatever became of its definition.
  const unpublished = job.source === 'deployment' || (await hasChanges(tx, job.number, 'succeeded'))
  if (job.mode !== 'plan' && unpublished) await revisions.request(tx)
}
