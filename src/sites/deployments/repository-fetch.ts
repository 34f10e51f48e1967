import { WEBHOOK } from '#base/actor.ts'
import { AppError } from '#base/app-error.ts'
import type { Logger } from '#platform/log/logger.ts'
import { type Queue, TransientFailure } from '#platform/queue/queue.ts'

import type { Deployments } from './deployments.ts'

const AT_ONCE = 4

/**
 * Works the queue `repository-fetch`: deploys the branch of a site's external repository, one fetch of a site after the other, so
 * that the last one begins after the last push. A repository that does not answer is tried again.
 */
export function handleRepositoryFetch(
  queue: Pick<Queue, 'handle'>,
  { deployments, logger }: { readonly deployments: Deployments; readonly logger: Logger },
): void {
  const fetch = async ({ siteId }: { readonly siteId: string }): Promise<void> => {
    try {
      await deployments.fetchExternal(siteId, WEBHOOK)
    } catch (error) {
      if (!(error instanceof AppError) || error.code === 'DiskFull') throw error
      if (error.code === 'SourceUnavailable') throw new TransientFailure(error.message)
      // It stays so however often it is tried; the site's deployments tell, too.
      logger.warn({ siteId, code: error.code, reason: error.message }, 'push not deployed')
    }
  }
  queue.handle('repository-fetch', fetch, { concurrency: AT_ONCE, perSite: 1 })
}
