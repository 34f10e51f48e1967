import { type Static, Type } from '@sinclair/typebox'

import { Deployer } from './deployer.ts'
import type { FileChanges } from './deployment-changes.ts'
import type { ArtifactFile } from './model.ts'
import { storedDeployer } from './stored-json.ts'

export const ActivationReason = Type.Union([
  Type.Literal('deploy'),
  Type.Literal('rollback'),
  Type.Literal('automaticRollback'),
])
export type ActivationReason = Static<typeof ActivationReason>

/** How many files differ. */
const FileChangeCounts = Type.Object({
  added: Type.Integer(),
  changed: Type.Integer(),
  removed: Type.Integer(),
})
export type FileChangeCounts = Static<typeof FileChangeCounts>

const AutomaticRollback = Type.Object({
  status: Type.Union([Type.Literal('due'), Type.Literal('done'), Type.Literal('failed')]),
  /** Why it could not be rolled back. */
  error: Type.Union([Type.String(), Type.Null()]),
})

/** That a deployment became the site's current one. */
export const ActivationRecord = Type.Object(
  {
    activatedAt: Type.String(),
    /** Null for what was deployed before this was recorded. */
    activatedBy: Type.Union([Deployer, Type.Null()]),
    reason: ActivationReason,
    /** The deployment that was current before. */
    replacedDeploymentId: Type.Union([Type.String(), Type.Null()]),
    /** Against that one; null when it is not known. */
    fileChanges: Type.Union([FileChangeCounts, Type.Null()]),
    /** Of the calls that ran its code in the minute after it became current. */
    health: Type.Object({ calls: Type.Integer(), failures: Type.Integer() }),
    /** The result where too many failed; else null. */
    automaticRollback: Type.Union([AutomaticRollback, Type.Null()]),
  },
  { title: 'Activation' },
)
export type ActivationRecord = Static<typeof ActivationRecord>

/** A row of the table `deployment_activation`. */
export interface ActivationRow {
  readonly activation_number: number
  readonly deployment_id: string
  readonly replaced_id: string | null
  readonly reason: ActivationReason
  readonly activated_by: unknown
  readonly activated_at: Date
  readonly files_added: number | null
  readonly files_changed: number | null
  readonly files_removed: number | null
  readonly calls: number
  readonly failures: number
  readonly rollback_status: 'due' | 'done' | 'failed' | null
  readonly rollback_error: string | null
}

export function activationRecord(row: ActivationRow): ActivationRecord {
  const { files_added: added, files_changed: changed, files_removed: removed } = row
  const isKnown = added !== null && changed !== null && removed !== null
  return {
    activatedAt: row.activated_at.toISOString(),
    activatedBy: storedDeployer(row.activated_by),
    reason: row.reason,
    replacedDeploymentId: row.replaced_id,
    fileChanges: isKnown ? { added, changed, removed } : null,
    health: { calls: row.calls, failures: row.failures },
    automaticRollback:
      row.rollback_status === null
        ? null
        : { status: row.rollback_status, error: row.rollback_error },
  }
}

/** What became of the files of `before`. */
export function fileChanges(
  before: readonly ArtifactFile[],
  after: readonly ArtifactFile[],
): FileChanges {
  const remaining = new Map(before.map(({ path, sha256 }) => [path, sha256]))
  const added: string[] = []
  const changed: string[] = []
  for (const { path, sha256 } of after) {
    const earlier = remaining.get(path)
    if (earlier === undefined) added.push(path)
    else if (earlier !== sha256) changed.push(path)
    remaining.delete(path)
  }
  return { added: added.sort(), changed: changed.sort(), removed: [...remaining.keys()].sort() }
}
