import { AppError } from '#base/app-error.ts'
import type { ErrorCode } from '#base/error-status.ts'
import type { Visitor } from '#identity/visitor.ts'
import { QUEUE_POLICIES } from '#platform/queue/queue-policies.ts'
import type { QueueJobs } from '#platform/queue/queue.ts'
import type { Caller } from '#platform/sandbox-host/call.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { OperationCalls } from '#runtime/calls/operation-calls.ts'
import type { Site } from '#sites/site.ts'

import type { JobActivity } from './job-activity.ts'
import type { AttemptResult, RunAttempts, RunRef, StartedAttempt } from './run-attempts.ts'
import { storedResult } from './run-result.ts'

const MAX_ATTEMPTS = QUEUE_POLICIES['job-run'].retries + 1
/** Failures that are the service's own and pass. */
const TRANSIENT: ReadonlySet<ErrorCode> = new Set([
  'OperationInterrupted',
  'OperationOverloaded',
  'DataRuntimeProvisioning',
  'ServiceUnavailable',
  'DiskFull',
])

/** Finds the current state of the visitor that a job runs as. */
export interface RunVisitors {
  /** Undefined when there is none of that name who could sign in. */
  find(site: Site, username: string): Promise<Visitor | undefined>
}

type Attempt = StartedAttempt & RunRef

/**
 * Carries out runs: the handler of the queues `job-run` and `job-tick`. What the site's code throws ends a run, what passes on the side of
 * the service is tried again; a run whose replica went away is another replica's next attempt.
 */
export class RunWorker {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'logger'> & {
      readonly operationCalls: Pick<OperationCalls, 'call'>
      readonly visitors: RunVisitors
      readonly jobActivity: JobActivity
      readonly runAttempts: RunAttempts
      siteOf(siteId: string): Promise<Site>
      /** From memory where it is there. */
      siteByHost(host: string): Site | undefined | Promise<Site | undefined>
    },
  ) {
    this.#deps = deps
  }

  /** Throws when the run is to be tried again. At the signal the sandbox ends its call: that attempt is not held against it. */
  async run({ siteId, runId }: QueueJobs['job-run'], signal: AbortSignal): Promise<void> {
    const { jobActivity, runAttempts } = this.#deps
    const started = await runAttempts.begin({ siteId, runId })
    // It is over, or gone with its job.
    if (!started) return
    const { attempt } = started
    const startedAt = performance.now()
    const outcome = await this.#invoke({ siteId, runId, ...started }, signal)
    jobActivity.ended(outcome.status, performance.now() - startedAt)
    await runAttempts.end({ siteId, runId, attempt, ...outcome })
    if (outcome.status === 'queued') {
      throw new Error(`Attempt ${attempt} of the run failed: ${outcome.error?.message}`)
    }
  }

  /** The queue has given up: the workers of the run were lost, time and again. */
  async giveUp({ siteId, runId }: QueueJobs['job-run']): Promise<void> {
    const message = `The run was interrupted ${MAX_ATTEMPTS} times and is not tried again`
    const error = { code: 'OperationInterrupted', message }
    await this.#deps.runAttempts.end({ siteId, runId, attempt: undefined, status: 'failed', error })
  }

  async #invoke(
    { siteId, requestId, attempt, ...job }: Attempt,
    signal: AbortSignal,
  ): Promise<AttemptResult> {
    try {
      const site = await this.#siteOf(siteId, job.domain)
      const authority = await this.#authority(site, job)
      const body = JSON.stringify({ payload: job.payload })
      const about = { site, operation: job.operation, requestId, authority, body, signal }
      const call = { ...about, depth: 0, fresh: true } as const
      const answer = await this.#deps.operationCalls.call(call)
      return { status: 'succeeded', ...storedResult(answer.body) }
    } catch (error) {
      const failure = this.#failureOf(error, siteId)
      const isTransient = TRANSIENT.has(failure.code) || failure.code === 'InternalError'
      const code = failure.thrown?.code ?? failure.code
      const isTriedAgain = isTransient && (attempt < MAX_ATTEMPTS || signal.aborted)
      return {
        status: isTriedAgain ? 'queued' : (STATUS[failure.code] ?? 'failed'),
        error: { code, message: failure.message },
      }
    }
  }

  async #siteOf(siteId: string, domain: string): Promise<Site> {
    const known = await this.#deps.siteByHost(domain)
    return known?.siteId === siteId ? known : this.#deps.siteOf(siteId)
  }

  async #authority(site: Site, { auth }: Pick<Attempt, 'auth'>): Promise<Caller | 'system'> {
    if (auth.mode === 'system') return 'system'
    const visitor = await this.#deps.visitors.find(site, auth.username)
    if (visitor) return visitor
    throw new AppError(
      'UserNotFound',
      `User "${auth.username}", which the job runs as, does not exist or may not sign in`,
    )
  }

  #failureOf(error: unknown, siteId: string): AppError {
    if (error instanceof AppError) return error
    this.#deps.logger.error({ err: error, siteId }, 'job run failed')
    return new AppError('InternalError', 'Something went wrong on our side', { cause: error })
  }
}

const STATUS: Partial<Record<ErrorCode, 'timedOut'>> = { OperationTimeout: 'timedOut' }
