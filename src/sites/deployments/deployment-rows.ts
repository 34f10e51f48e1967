import { AppError, notFound } from '#base/app-error.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

import type { DeploymentRow } from './model.ts'
import { type DeployedSiteRow, selectDeployedSite, selectDeployment } from './queries.ts'

const DEPLOYMENT_ID = /^dep_[a-z0-9]{16}$/

/** Throws `SiteNotFound`. `read` may lock it. */
export async function existingSite(
  tx: SiteTx,
  read = selectDeployedSite,
): Promise<DeployedSiteRow> {
  const site = await read(tx)
  if (!site) throw notFound('Site', tx.siteId)
  return site
}

/** Throws `DeploymentNotFound`. */
export async function existingDeployment(tx: SiteTx, deploymentId: string): Promise<DeploymentRow> {
  const row = DEPLOYMENT_ID.test(deploymentId) && (await selectDeployment(tx, deploymentId))
  if (!row) throw notFound('Deployment', deploymentId)
  return row
}

export const deploymentRemoved = (deploymentId: string): AppError =>
  new AppError(
    'DeploymentRemoved',
    `The files of deployment "${deploymentId}" are no longer kept: deploy its version again`,
  )
