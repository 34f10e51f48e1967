import type { Actor } from '#base/actor.ts'
import { AppError } from '#base/app-error.ts'
import type { SiteAudit } from '#identity/security-events/model.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { DefinedFunctions } from '#runtime/definitions/defined-functions.ts'
import type { ParsedDefinition } from '#runtime/definitions/parse.ts'
import type { Definitions } from '#runtime/definitions/service.ts'
import { codeError } from '#runtime/functions/code-faults.ts'
import type { CheckedFunctions, FunctionGuard } from '#runtime/functions/function-guard.ts'
import type { Revisions } from '#runtime/revisions/revisions.ts'

import {
  hasChanges,
  insertChanges,
  selectNamesToDelete,
  selectPending,
  updateChangeResult,
} from './change-queries.ts'
import { confirmationError } from './confirmation.ts'
import { endIacJob } from './end-job.ts'
import type { ChangeStatus, IacChange, IacJob } from './model.ts'
import { resetAttempts, selectIacJob, selectNextJob, updateStarted } from './queries.ts'
import type { SealedDefinitions } from './sealed-definitions.ts'

const WORKERS = 2
/** How long a worker stays with one site while others wait. */
const TIME_SLICE_MS = 2000
/** Workers that may fail or die at one step before the job is given up; fewer than the queue's own tries. */
const MAX_ATTEMPTS = 10
const NOTHING: ReadonlySet<string> = new Set()

interface OpenedJob {
  readonly job: IacJob
  readonly definition: ParsedDefinition
}

/** A job whose functions load with the files of one deployment. */
interface CheckedJob extends OpenedJob {
  readonly checked: CheckedFunctions
}

/** A step that was refused: the code that catches it records so in a transaction of its own. */
class StepRefused extends Error {
  readonly change: IacChange
  readonly reason: AppError

  constructor(change: IacChange, reason: AppError) {
    super(reason.message)
    this.change = change
    this.reason = reason
  }
}

interface IacWorkerDeps extends Pick<PlatformServices, 'database' | 'queue' | 'clock'> {
  readonly definitions: Definitions
  readonly definedFunctions: DefinedFunctions
  readonly functionGuard: FunctionGuard
  readonly sealed: SealedDefinitions
  readonly revisions: Revisions
  readonly securityEvents: Pick<SecurityEvents, 'record'>
}

/**
 * Carries out a site's jobs, one after the other. Every step is one transaction that locks the site, does the change and
 * notes it, so a worker may die at any moment and several may work at once: no step is done twice, or lost.
 */
export class IacWorker {
  readonly #deps: IacWorkerDeps

  constructor(deps: IacWorkerDeps) {
    this.#deps = deps
  }

  /** Puts the worker behind its queue; call before the queue runs. */
  serve(): void {
    this.#deps.queue.handle('iac-job', ({ siteId }, signal) => this.run(siteId, signal), {
      concurrency: WORKERS,
    })
  }

  /**
   * Works until no job of the site waits, or until its time is over: then the site queues up again, behind those that
   * wait. Throws at a drain, or on a fault of ours: the queue tries again.
   */
  async run(siteId: string, signal: AbortSignal): Promise<void> {
    const end = this.#deps.clock.now().getTime() + TIME_SLICE_MS
    do {
      signal.throwIfAborted()
      const job = await this.#take(siteId)
      if (!job) return
      await this.#carryOn(siteId, job, { signal, end })
    } while (this.#deps.clock.now().getTime() < end)
    await this.#deps.database.withSite(siteId, (tx) =>
      this.#deps.queue.enqueue(tx, 'iac-job', { siteId }, { singletonKey: siteId }),
    )
  }

  /** Does at least one step of the job, if there is one, unless the site is deployed during it. */
  async #carryOn(
    siteId: string,
    job: IacJob,
    slice: { readonly signal: AbortSignal; readonly end: number },
  ): Promise<void> {
    const opened = await this.#open(siteId, job)
    const checked = opened && (await this.#check(siteId, opened))
    const planned = checked && (await this.#planned(siteId, checked))
    while (planned && (await this.#step(siteId, planned))) {
      slice.signal.throwIfAborted()
      if (this.#deps.clock.now().getTime() >= slice.end) return
    }
  }

  /** The job that runs, or the one whose turn it is. */
  #take(siteId: string): Promise<IacJob | undefined> {
    return this.#inSite(siteId, async (tx) => {
      const job = await selectNextJob(tx)
      if (job) await updateStarted(tx, job.number, this.#deps.clock.now())
      return job
    })
  }

  /** Undefined when there is nothing to carry out. */
  #open(siteId: string, { jobId }: IacJob): Promise<OpenedJob | undefined> {
    return this.#inSite(siteId, async (tx) => {
      const job = await selectRunning(tx, jobId)
      if (!job) return undefined
      if (job.attempts > MAX_ATTEMPTS) {
        await this.#fail(tx, job, INTERNAL_FAULT)
        return undefined
      }
      const definition = await this.#read(tx, job)
      return definition && { job, definition }
    })
  }

  /** Ends the job when a function of its definition does not load. Asks the sandbox, in no transaction. */
  async #check(siteId: string, opened: OpenedJob): Promise<CheckedJob | undefined> {
    const { definition, job } = opened
    const checked = await this.#deps.definedFunctions.check(siteId, definition, job.mode)
    const error = codeError(checked.faults)
    if (!error) return { ...opened, checked }
    await this.#inSite(siteId, async (tx) => {
      const running = await selectRunning(tx, job.jobId)
      if (running) await this.#fail(tx, running, error.message)
    })
    return undefined
  }

  /** Plans the job, unless that was done. Undefined when there is nothing to carry out. */
  #planned(siteId: string, checked: CheckedJob): Promise<CheckedJob | undefined> {
    return this.#inSite(siteId, async (tx) => {
      const job = await selectRunning(tx, checked.job.jobId)
      if (!job) return undefined
      const opened = { ...checked, job }
      if (await hasChanges(tx, job.number)) return opened
      return (await this.#plan(tx, opened)) ? opened : undefined
    })
  }

  /** Ends the job itself when its definition cannot be read: an earlier version took it in. */
  async #read(tx: SiteTx, job: IacJob): Promise<ParsedDefinition | undefined> {
    try {
      const definition = await this.#deps.sealed.open(tx, job)
      if (!definition) await this.#fail(tx, job, INTERNAL_FAULT)
      return definition
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      await this.#fail(tx, job, error.message)
      return undefined
    }
  }

  /** Writes down what there is to do. False when the job ends here: a plan, or one that may not be carried out. */
  async #plan(tx: SiteTx, { job, definition }: OpenedJob): Promise<boolean> {
    const { changes, faults } = await this.#deps.definitions.plan(tx, definition, job.mode)
    const [fault] = faults
    if (fault) {
      const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : ''
      await this.#fail(tx, job, `${fault.field}: ${fault.message}${more}`)
      return false
    }
    const refusal = job.mode === 'replace' && confirmationError(changes, job.agreed)
    if (refusal) {
      await this.#fail(tx, job, `${refusal.code}: ${refusal.message}`)
      return false
    }
    const waiting: ChangeStatus = job.mode === 'plan' ? 'planned' : 'pending'
    const rows = changes.map((change) => ({
      ...change,
      status: change.action === 'none' ? ('unchanged' as const) : waiting,
    }))
    await insertChanges(tx, job.number, rows)
    if (job.mode !== 'plan') return true
    await endIacJob(tx, job, { status: 'succeeded' }, this.#deps)
    return false
  }

  /**
   * One change and its record; with the last one the job ends, so that it cannot be cancelled once it is done. False when the job
   * is over, or its functions have to be checked again with the files of another deployment.
   */
  async #step(
    siteId: string,
    { job: { jobId }, definition, checked }: CheckedJob,
  ): Promise<boolean> {
    try {
      return await this.#inSite(siteId, async (tx) => {
        const job = await selectRunning(tx, jobId)
        if (!job) return false
        if (!(await this.#deps.functionGuard.isCurrent(tx, checked))) return false
        const [change, another] = await selectPending(tx, job.number, 2)
        if (change) await this.#carryOut(tx, { job, definition }, change)
        if (another) return true
        await endIacJob(tx, job, { status: 'succeeded' }, this.#deps)
        return false
      })
    } catch (error) {
      if (!(error instanceof StepRefused)) throw error
      await this.#refused(siteId, jobId, error)
      return false
    }
  }

  async #carryOut(tx: SiteTx, { job, definition }: OpenedJob, change: IacChange): Promise<void> {
    // Only a replacement deletes, and what is deleted asks for no room.
    const toDelete =
      job.mode === 'replace' && change.action !== 'delete'
        ? await selectNamesToDelete(tx, job.number, change.section)
        : NOTHING
    const actor = { type: 'known', id: job.requestedBy } as const
    const by = { actor, audit: this.#auditOf(job, actor), toDelete }
    const action = await this.#deps.definitions
      .applyChange(tx, definition, { ...change, by })
      .catch((error: unknown) => {
        throw error instanceof AppError ? new StepRefused(change, error) : error
      })
    const status = action === 'none' ? 'unchanged' : 'succeeded'
    const { position } = change
    await updateChangeResult(tx, job.number, { position, action, status, error: null })
    await resetAttempts(tx, job.number)
  }

  /** In the audit trail each change names the job, whose own entry says where it was sent from. */
  #auditOf({ jobId, deploymentId }: IacJob, by: Actor): SiteAudit {
    return (tx, { event, detail }) =>
      this.#deps.securityEvents.record(tx, {
        event,
        pool: 'admin',
        by,
        detail: { ...detail, iacJobId: jobId, ...(deploymentId !== null && { deploymentId }) },
      })
  }

  /** The step's own transaction was rolled back. */
  #refused(siteId: string, jobId: string, { change, reason }: StepRefused): Promise<void> {
    return this.#inSite(siteId, async (tx) => {
      const job = await selectRunning(tx, jobId)
      if (!job) return
      const { section, name, position, action } = change
      const settled = { position, action, status: 'failed' as const, error: reason.message }
      // Not pending any more: another worker had more luck.
      if (!(await updateChangeResult(tx, job.number, settled))) return
      const error = `${section} "${name}": ${reason.message}`
      await this.#fail(tx, job, error)
    })
  }

  #fail(tx: SiteTx, job: IacJob, error: string): Promise<void> {
    return endIacJob(tx, job, { status: 'failed', error }, this.#deps)
  }

  #inSite<Result>(siteId: string, work: (tx: SiteTx) => Promise<Result>): Promise<Result> {
    return this.#deps.database.withSite(siteId, async (tx) => {
      await this.#deps.revisions.lock(tx)
      return work(tx)
    })
  }
}

const INTERNAL_FAULT =
  'the job could not be carried out because of a fault on our side: what was done is listed, send it again for the rest'

/** Undefined when it was cancelled, or another worker ended it. */
async function selectRunning(tx: SiteTx, jobId: string): Promise<IacJob | undefined> {
  const job = await selectIacJob(tx, jobId)
  return job?.status === 'running' ? job : undefined
}
