import type { Actor } from '#base/actor.ts'
import { AppError } from '#base/app-error.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

import type { ArtifactFile } from './model.ts'

/** Changes of the site that an activation outlives. */
const MAX_ROUNDS = 5

/** A deployment whose files are all there. */
export interface CompleteDeployment {
  readonly siteId: string
  readonly deploymentId: string
  readonly by: Actor
  /** Whether the site goes back to it. */
  readonly isRollback: boolean
  readonly files: readonly ArtifactFile[]
  /** The texts that functions may import, by path. */
  readonly codeFiles: ReadonlyMap<string, string>
}

/** What follows from a deployment that becomes current: in the transaction that makes it so, or not at all. */
export type ActivationStep = (tx: SiteTx) => Promise<void>

/** A step finds that what was prepared is not true any more: prepare again. */
export class ActivationOutdated extends Error {
  override readonly name = 'ActivationOutdated'

  constructor() {
    super('The site has changed while its deployment was prepared')
  }
}

/** What the layers above do when a deployment becomes a site's current one. */
export interface DeploymentLifecycle {
  /** Refuses, before anything is changed, what cannot be run. The step may refuse it, too, and nothing has happened. */
  prepare(deployment: CompleteDeployment): Promise<ActivationStep>
}

/** Does it again when the site has changed between preparing and activating. */
export async function preparedAnew(activate: () => Promise<void>): Promise<void> {
  for (let round = 1; ; round += 1) {
    try {
      await activate()
      return
    } catch (error) {
      if (!(error instanceof ActivationOutdated)) throw error
      if (round < MAX_ROUNDS) continue
      throw new AppError('ServiceUnavailable', `${error.message} again and again: try again`, {
        cause: error,
        retryAfterSeconds: 1,
      })
    }
  }
}
