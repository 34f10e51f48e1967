import { SYSTEM } from '#base/actor.ts'
import { AppError } from '#base/app-error.ts'
import type { ErrorCode } from '#base/error-status.ts'
import type { Queue } from '#platform/queue/queue.ts'
import { TransientFailure } from '#platform/queue/queue.ts'
import type { PlatformServices } from '#platform/services.ts'

import type { Deployments } from './deployments.ts'
import {
  type WatchedActivation,
  selectNewestActivationNumber,
  selectWatchedActivation,
  updateRollbackStatus,
} from './health-queries.ts'

/** What passes by itself. */
const TRANSIENT: readonly ErrorCode[] = ['ServiceUnavailable', 'DiskFull', 'TooManyRequests']

interface RollbackJob {
  readonly siteId: string
  readonly activationNumber: number
}

/** Rolls back the deployments that were found to fail, each once. */
export class AutomaticRollbacks {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'database' | 'logger'> & {
      readonly deployments: Pick<Deployments, 'switchTo'>
      /** Where the site's admins read of it. */
      readonly siteLog: {
        platform(line: { siteId: string; level: 'error'; message: string }): void
      }
    },
  ) {
    this.#deps = deps
  }

  serve(queue: Queue): void {
    queue.handle('deployment-rollback', (job) => this.run(job))
  }

  /** Running it twice is fine. */
  async run(job: RollbackJob): Promise<void> {
    const { siteId, activationNumber } = job
    const activation = await this.#deps.database.withSite(siteId, (tx) =>
      selectWatchedActivation(tx, activationNumber),
    )
    if (activation?.rollbackStatus !== 'due' || activation.replacedId === null) return
    const { deploymentId, replacedId, calls, failures } = activation
    const found = `${failures} of ${calls} calls of deployment "${deploymentId}" failed`
    const error = await this.#rollBack(job, activation)
    const message =
      error === undefined
        ? `${found}: the site was rolled back to "${replacedId}"`
        : `${found}, and the site could not be rolled back to "${replacedId}": ${error}`
    this.#deps.logger.warn({ siteId, deploymentId, replacedId, calls, failures, error }, 'rollback')
    this.#deps.siteLog.platform({ siteId, level: 'error', message })
  }

  /** Gives the reason why not, where there is one. */
  async #rollBack(
    { siteId, activationNumber }: RollbackJob,
    { replacedId }: WatchedActivation,
  ): Promise<string | undefined> {
    const { database, deployments } = this.#deps
    try {
      await deployments.switchTo(siteId, replacedId ?? '', {
        by: SYSTEM,
        reason: 'automaticRollback',
        async guard(tx) {
          if ((await selectNewestActivationNumber(tx)) !== activationNumber) throw replaced()
          await updateRollbackStatus(tx, activationNumber, { status: 'done' })
        },
      })
      return undefined
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      if (TRANSIENT.includes(error.code)) throw new TransientFailure(error.message)
      const { message } = error
      await database.withSite(siteId, (tx) =>
        updateRollbackStatus(tx, activationNumber, { status: 'failed', error: message }),
      )
      return message
    }
  }
}

const replaced = (): AppError =>
  new AppError('DeploymentReplaced', 'another deployment has become current since')
