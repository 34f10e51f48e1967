import { AppError, notFound } from '#base/app-error.ts'
import { type PageRequest, type PageRows, pageRows } from '#base/page.ts'
import type { SiteAudit } from '#identity/security-events/model.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { Definitions } from '#runtime/definitions/service.ts'
import type { Revisions } from '#runtime/revisions/revisions.ts'

import { selectChanges } from './change-queries.ts'
import { endIacJob } from './end-job.ts'
import { type IacJob, type IacSummary, isFinished, summaryOf } from './model.ts'
import { countOpenJobs, selectIacJob, selectIacJobs, selectNewestOfDeployment } from './queries.ts'

const JOB_ID = /^iac_[a-z0-9]{16}$/

export interface IacJobWithSummary {
  readonly job: IacJob
  readonly summary: IacSummary
}

interface IacJobsDeps extends Pick<PlatformServices, 'database' | 'clock'> {
  readonly definitions: Definitions
  readonly revisions: Revisions
}

/** The infrastructure jobs of a site: what became of them, and calling them off. */
export class IacJobs {
  readonly #deps: IacJobsDeps

  constructor(deps: IacJobsDeps) {
    this.#deps = deps
  }

  /** Newest first. */
  async list(siteId: string, page: PageRequest): Promise<PageRows<IacJob>> {
    const rows = await this.#deps.database.withSite(siteId, (tx) =>
      selectIacJobs(tx, { ...page, limit: page.limit + 1 }),
    )
    return pageRows(rows, page.limit, ({ number }) => number)
  }

  get(siteId: string, jobId: string): Promise<IacJobWithSummary> {
    return this.#deps.database.withSite(siteId, async (tx) =>
      withSummary(tx, await existing(tx, jobId)),
    )
  }

  /** The newest job of that deployment; undefined for one that defines nothing. */
  ofDeployment(siteId: string, deploymentId: string): Promise<IacJobWithSummary | undefined> {
    return this.#deps.database.withSite(siteId, async (tx) => {
      const job = await selectNewestOfDeployment(tx, deploymentId)
      return job && withSummary(tx, job)
    })
  }

  /**
   * A job that waits never starts; one that runs stops before its next step, and what it did is published. 409
   * `IacJobFinished` when it has ended.
   */
  cancel(siteId: string, jobId: string, audit: SiteAudit): Promise<IacJobWithSummary> {
    return this.#deps.database.withSite(siteId, async (tx) => {
      // No step is running while this is locked.
      await this.#deps.revisions.lock(tx)
      const job = await existing(tx, jobId)
      if (isFinished(job.status)) {
        throw new AppError('IacJobFinished', `The job "${jobId}" has ${job.status} already`)
      }
      await endIacJob(tx, job, { status: 'cancelled' }, this.#deps)
      await audit(tx, { event: 'definition.cancelled', detail: { jobId } })
      return withSummary(tx, await existing(tx, jobId))
    })
  }

  /** Whether no job of the site waits or runs. */
  isIdle(siteId: string): Promise<boolean> {
    return this.#deps.database.withSite(siteId, async (tx) => (await countOpenJobs(tx)) === 0)
  }

  /** What the site has, as a definition. */
  export(siteId: string): Promise<Record<string, readonly object[]>> {
    return this.#deps.database.withSite(siteId, async (tx) => {
      // A running step is in it or not, and nothing in between.
      await this.#deps.revisions.lock(tx)
      return this.#deps.definitions.export(tx)
    })
  }
}

async function existing(tx: SiteTx, jobId: string): Promise<IacJob> {
  const job = JOB_ID.test(jobId) && (await selectIacJob(tx, jobId))
  if (!job) throw notFound('IacJob', jobId)
  return job
}

const withSummary = async (tx: SiteTx, job: IacJob): Promise<IacJobWithSummary> => ({
  job,
  summary: summaryOf(await selectChanges(tx, job.number)),
})
