import { StatementBatcher } from '#base/statement-batcher.ts'
import type { PlatformServices } from '#platform/services.ts'

import type { JobDefinition } from './model.ts'
import type { RunError } from './run-model.ts'

/** Runs of one statement. A result has 64 KiB at most. */
const MOST_BEGUN = 100
const MOST_ENDED = 50
const COLUMNS =
  'job_id as "jobId", operation, payload, auth, request_id as "requestId", attempt, domain'
/** Runs of all sites go together. */
const ALL_SITES = ''

export interface RunRef {
  readonly siteId: string
  readonly runId: string
}

/** The job of a run that was taken up, and its site. */
export interface StartedAttempt extends Pick<JobDefinition, 'operation' | 'payload' | 'auth'> {
  readonly jobId: string
  readonly requestId: string
  /** From 1. */
  readonly attempt: number
  readonly domain: string
}

export interface AttemptResult {
  readonly status: 'queued' | 'succeeded' | 'failed' | 'timedOut'
  readonly result?: string
  readonly resultBytes?: number
  readonly error?: RunError
}

interface EndedAttempt extends RunRef, AttemptResult {
  /** Whichever it is when undefined. */
  readonly attempt: number | undefined
}

/** Begins and ends attempts at runs: of those that come at the same time many in one statement. */
export class RunAttempts {
  readonly #deps: Pick<PlatformServices, 'database' | 'clock'>
  readonly #begins: StatementBatcher<RunRef, StartedAttempt | undefined>
  readonly #ends: StatementBatcher<EndedAttempt, boolean>

  constructor(deps: Pick<PlatformServices, 'database' | 'clock'>) {
    this.#deps = deps
    this.#begins = new StatementBatcher({
      send: (_lane, runs) => this.#beginAll(runs),
      most: MOST_BEGUN,
      underWay: 1,
    })
    this.#ends = new StatementBatcher({
      send: (_lane, ended) => this.#endAll(ended),
      most: MOST_ENDED,
      underWay: 1,
    })
  }

  /** Takes up a run that is not over: the next attempt at it. Undefined when there is nothing to do any more. */
  async begin(run: RunRef): Promise<StartedAttempt | undefined> {
    return (await this.#begins.add(ALL_SITES, run)) ?? this.#beginAlone(run)
  }

  /** Writes how an attempt ended, unless the run is over or another attempt has begun. */
  async end(ended: EndedAttempt): Promise<void> {
    if (!(await this.#ends.add(ALL_SITES, ended))) await this.#endAlone(ended)
  }

  /** Undefined for those that are left out. */
  async #beginAll(runs: readonly RunRef[]): Promise<readonly (StartedAttempt | undefined)[]> {
    const { database, clock } = this.#deps
    const rows = await database.statement<StartedAttempt & RunRef>(
      `select of_site as "siteId", of_run as "runId", ${COLUMNS} from job_runs_begin($1, $2, $3)`,
      [runs.map(({ siteId }) => siteId), runs.map(({ runId }) => runId), clock.now()],
    )
    const begun = new Map(rows.map(({ siteId, runId, ...row }) => [keyOf({ siteId, runId }), row]))
    return runs.map((run) => begun.get(keyOf(run)))
  }

  async #beginAlone({ siteId, runId }: RunRef): Promise<StartedAttempt | undefined> {
    const { database, clock } = this.#deps
    const [row] = await database.statement<StartedAttempt>(
      `select ${COLUMNS} from job_run_begin($1, $2, $3)`,
      [siteId, runId, clock.now()],
    )
    return row
  }

  /** False for those that are left out. */
  async #endAll(ended: readonly EndedAttempt[]): Promise<readonly boolean[]> {
    const { database, clock } = this.#deps
    const list = ended.map(({ siteId, runId, attempt, status, result, resultBytes, error }) => ({
      site: siteId,
      run: runId,
      attempt,
      outcome: status,
      answer: result,
      answer_bytes: resultBytes,
      fault: error,
    }))
    const rows = await database.statement<RunRef>(
      'select of_site as "siteId", of_run as "runId" from job_runs_end($1::text::jsonb, $2)',
      [JSON.stringify(list), clock.now()],
    )
    const written = new Set(rows.map(keyOf))
    return ended.map((run) => written.has(keyOf(run)))
  }

  async #endAlone(ended: EndedAttempt): Promise<void> {
    const { database, clock } = this.#deps
    const { siteId, runId, attempt, status, result, resultBytes, error } = ended
    await database.statement('select job_run_end($1, $2, $3, $4, $5, $6, $7, $8)', [
      siteId,
      runId,
      attempt ?? null,
      status,
      result ?? null,
      resultBytes ?? null,
      error === undefined ? null : JSON.stringify(error),
      clock.now(),
    ])
  }
}

const keyOf = ({ siteId, runId }: RunRef): string => `${siteId} ${runId}`
