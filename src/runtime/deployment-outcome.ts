import { setTimeout as delay } from 'node:timers/promises'

import type { IacJobWithSummary, IacJobs } from './iac/service.ts'
import type { PermissionSync } from './permission-sync/permission-sync.ts'
import type { PermissionsSync } from './revisions/model.ts'

const WAIT_MS = 30_000
const POLL_MS = 100

/**
 * Waits until the runtime has taken over what was deployed, for half a minute at most. Returns why it does not run it as it is
 * defined, or undefined when it does.
 */
export async function deploymentOutcome(
  {
    iacJobs,
    permissionSync,
  }: {
    readonly iacJobs: Pick<IacJobs, 'ofDeployment'>
    readonly permissionSync: Pick<PermissionSync, 'statusOf'>
  },
  { siteId, deploymentId }: { readonly siteId: string; readonly deploymentId: string },
  signal: AbortSignal,
): Promise<string | undefined> {
  for (let waitedMs = 0; waitedMs < WAIT_MS && !signal.aborted; waitedMs += POLL_MS) {
    const found = await iacJobs.ofDeployment(siteId, deploymentId)
    const sync = await permissionSync.statusOf(siteId)
    const outcome =
      found?.job.finishedAt === null ? 'waiting' : (jobFault(found) ?? syncState(sync))
    if (outcome !== 'waiting') return outcome === 'runs' ? undefined : outcome
    await delay(POLL_MS, undefined, { signal }).catch(() => {})
  }
  return 'the runtime has not taken it over yet'
}

const jobFault = (found: IacJobWithSummary | undefined): string | undefined =>
  found === undefined || found.job.status === 'succeeded'
    ? undefined
    : `croft.json was not carried out whole: ${found.job.error ?? found.job.status}`

function syncState({ status, error }: PermissionsSync): string {
  if (status === 'succeeded') return 'runs'
  return status === 'failed' ? `the runtime says: ${error ?? status}` : 'waiting'
}
