import type { Actor } from '#base/actor.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

import { deleteActivationsUpTo, insertActivation, selectActivations } from './activation-queries.ts'
import {
  type ActivationReason,
  type ActivationRecord,
  activationRecord,
  fileChanges,
} from './activation-record.ts'
import { type DeploymentRow, storedFiles } from './model.ts'
import { selectDeployment } from './queries.ts'

/** Activations of a site that the log keeps. */
const KEPT = 1000
/** Activations that one deployment is shown with. */
const SHOWN = 10

export interface Activation {
  readonly deployment: DeploymentRow
  /** What is current until now. */
  readonly replacedId: string | null
  readonly reason: ActivationReason
  readonly by: Actor
}

/** Records that a deployment becomes the current one; the site is locked. Returns the number of the activation. */
export async function logActivation(
  tx: SiteTx,
  { deployment, replacedId, reason, by }: Activation,
  now: Date,
): Promise<number> {
  const replaced = replacedId === null ? undefined : await selectDeployment(tx, replacedId)
  const changes = fileChanges(
    replaced ? storedFiles(replaced.files) : [],
    storedFiles(deployment.files),
  )
  const counts = {
    added: changes.added.length,
    changed: changes.changed.length,
    removed: changes.removed.length,
  }
  const { deployment_id: deploymentId } = deployment
  const activation = { deploymentId, replacedId, reason, by, fileChanges: counts }
  const number = await insertActivation(tx, activation, now)
  await deleteActivationsUpTo(tx, number - KEPT)
  return number
}

/** By deployment, newest first. */
export async function readActivations(
  tx: SiteTx,
  deploymentIds: readonly string[],
): Promise<ReadonlyMap<string, readonly ActivationRecord[]>> {
  const rows = await selectActivations(tx, deploymentIds, SHOWN)
  const records = new Map<string, ActivationRecord[]>()
  for (const row of rows) {
    const known = records.get(row.deployment_id) ?? []
    records.set(row.deployment_id, [...known, activationRecord(row)])
  }
  return records
}
