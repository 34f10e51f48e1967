import type { Actor } from '#base/actor.ts'
import { AppError } from '#base/app-error.ts'
import type { Database, SiteTx } from '#platform/postgres/database.ts'

import { selectNewestActivations } from './activation-queries.ts'
import { deploymentRemoved, existingDeployment, existingSite } from './deployment-rows.ts'
import type { Deployments } from './deployments.ts'
import type { DeploymentRecord } from './model.ts'
import { selectDeployment } from './queries.ts'

export interface RollbackRequest {
  /** The deployment to go back to; the one before the current one when left out. */
  readonly deploymentId?: string | undefined
  /** What the caller knows as the current one: another one is not rolled back in its place. */
  readonly from?: string | undefined
  readonly by: Actor
}

interface Rollback {
  readonly fromId: string
  readonly toId: string
}

/**
 * Goes back to a deployment that the site ran. It is checked as a new one, its definition is applied as that of a new
 * one, which deletes nothing, and of two at once one goes back.
 */
export class Rollbacks {
  readonly #deps

  constructor(deps: {
    readonly database: Database
    readonly deployments: Pick<Deployments, 'switchTo'>
  }) {
    this.#deps = deps
  }

  async rollBack(siteId: string, request: RollbackRequest): Promise<DeploymentRecord> {
    const { database, deployments } = this.#deps
    const { fromId, toId } = await database.withSite(siteId, (tx) => plan(tx, request))
    return deployments.switchTo(siteId, toId, {
      by: request.by,
      reason: 'rollback',
      guard: (_tx, currentId) => {
        if (currentId !== fromId) throw replacedMeanwhile(fromId, currentId)
      },
    })
  }
}

async function plan(tx: SiteTx, request: RollbackRequest): Promise<Rollback> {
  const { current_deployment_id: currentId } = await existingSite(tx)
  const { from: fromId = currentId } = request
  if (currentId === null || fromId === null) {
    throw new AppError('NoEarlierDeployment', 'The site runs no deployment yet')
  }
  if (fromId !== currentId) throw replacedMeanwhile(fromId, currentId)
  const toId = request.deploymentId ?? (await deploymentBefore(tx, currentId))
  if (toId === currentId) {
    throw new AppError('DeploymentAlreadyCurrent', `The site runs "${toId}" already`)
  }
  await checkTarget(tx, toId)
  return { fromId, toId }
}

/**
 * What ran before the current deployment was deployed. A site that was rolled back goes further back: never to what it
 * was rolled back from.
 */
async function deploymentBefore(tx: SiteTx, currentId: string): Promise<string> {
  const which = { deploymentId: currentId, reason: 'deploy', limit: 1 } as const
  const [deployed] = await selectNewestActivations(tx, which)
  if (deployed?.replaced_id) return deployed.replaced_id
  throw new AppError('NoEarlierDeployment', `The site ran nothing before "${currentId}"`)
}

async function checkTarget(tx: SiteTx, deploymentId: string): Promise<void> {
  const row = await selectDeployment(tx, deploymentId)
  if (row?.status === 'ready') return
  const [ran] = await selectNewestActivations(tx, { deploymentId, limit: 1 })
  if (ran) throw deploymentRemoved(deploymentId)
  await existingDeployment(tx, deploymentId)
  throw new AppError(
    'DeploymentNotReady',
    `The site never ran "${deploymentId}": it can go back only to what it ran`,
  )
}

const replacedMeanwhile = (fromId: string, currentId: string | null): AppError =>
  new AppError(
    'DeploymentReplaced',
    `The site does not run "${fromId}" any more but "${currentId}": look at its deployments, then decide again`,
    { fields: { current: currentId } },
  )
