import type { Clock } from '#base/clock.ts'
import type { Ids } from '#base/ids.ts'
import type { Logger } from '#platform/log/logger.ts'
import type { Database } from '#platform/postgres/database.ts'
import type { Queue } from '#platform/queue/queue.ts'
import type { OperationCalls } from '#runtime/calls/operation-calls.ts'
import type { RuntimeLogs } from '#runtime/logs/service.ts'
import { IdempotentAnswers } from '#sites/idempotency/service.ts'
import type { Site } from '#sites/site.ts'

import { type RunVisitors, RunWorker } from './run-worker.ts'
import { JobRuns } from './runs.ts'
import { JobScheduler } from './scheduler.ts'
import { Jobs } from './service.ts'

/** Runs at once in one process: most of their time they wait for the sandbox. */
const RUNNERS = 12
/** Of one site, in all processes: its long runs leave room for those of its neighbours. */
const RUNNERS_PER_SITE = 6

export interface JobServices {
  readonly jobs: Jobs
  readonly jobRuns: JobRuns
  readonly jobScheduler: JobScheduler
}

/** A site's jobs, with the worker that runs them behind its queue. The scheduler is started by whoever works the queues. */
export function openJobs(deps: {
  readonly database: Database
  readonly queue: Queue
  readonly clock: Clock
  readonly ids: Ids
  readonly logger: Logger
  readonly runtimeLogs: RuntimeLogs
  readonly operationCalls: OperationCalls
  readonly visitors: RunVisitors
  siteOf(siteId: string): Promise<Site>
}): JobServices {
  const jobRuns = new JobRuns({ ...deps, idempotentAnswers: new IdempotentAnswers(deps) })
  const worker = new RunWorker(deps)
  deps.queue.handle('job-run', (job) => worker.run(job), {
    concurrency: RUNNERS,
    perGroup: RUNNERS_PER_SITE,
    givenUp: (job) => worker.giveUp(job),
  })
  return {
    jobs: new Jobs(deps),
    jobRuns,
    jobScheduler: new JobScheduler({ ...deps, runs: jobRuns }),
  }
}
