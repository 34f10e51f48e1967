import { type DeploymentRecord, storedDeploymentSource, storedFiles, totalBytes } from './model.ts'
import type { DeploymentRow } from './queries.ts'

/** A row as the operator sees it. */
export function deploymentRecord(row: DeploymentRow, currentId: string | null): DeploymentRecord {
  const files = storedFiles(row.files)
  return {
    deploymentId: row.deployment_id,
    status: row.status,
    current: row.deployment_id === currentId,
    source: storedDeploymentSource(row.source),
    artifactDirectory: row.artifact_directory,
    fileCount: files.length,
    sizeBytes: totalBytes(files),
    error: row.error,
    createdAt: row.created_at.toISOString(),
    activatedAt: row.activated_at?.toISOString() ?? null,
  }
}
