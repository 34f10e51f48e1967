import { AppError } from '#base/app-error.ts'
import { artifactDirectoryOf, storedSource } from '#sites/source.ts'

import { checkArtifactDirectory } from './build-yml.ts'
import { deploymentRemoved } from './deployment-rows.ts'
import { type ArtifactFile, type DeploymentRow, storedFiles } from './model.ts'
import type { DeployedSiteRow } from './queries.ts'

/** The row of a deployment that has all its files and is where the site's build puts them. */
export function completeRow(
  site: DeployedSiteRow,
  row: DeploymentRow,
  stored: ReadonlyMap<string, number>,
): DeploymentRow {
  if (row.status === 'removed') throw deploymentRemoved(row.deployment_id)
  refuseMissing(missingOf(storedFiles(row.files), stored))
  const artifactDirectory = row.artifact_directory
  checkArtifactDirectory({ artifactDirectory }, artifactDirectoryOf(storedSource(site)))
  return row
}

/** Returns each hash once. A stored object of another size is what an interrupted upload left behind. */
export function missingOf(
  files: readonly ArtifactFile[],
  stored: ReadonlyMap<string, number>,
): string[] {
  const missing = files.filter(({ sha256, sizeBytes }) => stored.get(sha256) !== sizeBytes)
  return [...new Set(missing.map(({ sha256 }) => sha256))]
}

function refuseMissing(missing: readonly string[]): void {
  if (missing.length === 0) return
  throw new AppError(
    'InvalidArtifact',
    `${missing.length} of the deployment's files are not uploaded yet: upload them, or begin again`,
    { fields: { missing: missing.slice(0, 20) } },
  )
}
