import { randomUUID } from 'node:crypto'

import { type Job, PgBoss } from 'pg-boss'

import type { Logger } from '#platform/log/logger.ts'
import type { SqlClient } from '#platform/postgres/client.ts'
import type { Tx } from '#platform/postgres/database.ts'
import type { Notifications } from '#platform/postgres/notifications.ts'

import { bossInTransaction, bossOnClient } from './boss-database.ts'
import { deadLetterQueue } from './queue-policies.ts'
import {
  type EnqueueOptions,
  type HandleOptions,
  type Queue,
  type QueueJobs,
  type QueueName,
  TransientFailure,
} from './queue.ts'

/** How often workers look for retries and delayed jobs; new jobs are announced by a notification. */
const POLL_SECONDS = 2
/** How often the jobs of dead workers are looked for. */
const MONITOR_SECONDS = 5

interface Handler {
  readonly concurrency: number
  readonly perGroup: number | undefined
  run(job: object, signal: AbortSignal): Promise<void>
  readonly givenUp: ((job: object) => Promise<void>) | undefined
}

/** Starts a queue on an installed schema. `sql` is the app role's. */
export async function openQueue(deps: {
  readonly sql: SqlClient
  readonly notifications: Notifications
  readonly log: Logger
}): Promise<PostgresQueue> {
  const boss = new PgBoss({
    db: bossOnClient(deps.sql),
    // Changes of the schema, and indexes, are the owner's business: see `installQueue`.
    migrate: false,
    createSchema: false,
    reindex: false,
    schedule: false,
    superviseIntervalSeconds: MONITOR_SECONDS,
    monitorIntervalSeconds: MONITOR_SECONDS,
  })
  boss.on('error', (error) => deps.log.error({ err: error }, 'queue'))
  boss.on('warning', (warning) => deps.log.warn({ warning: warning.message }, 'queue'))
  await boss.start()
  return new PostgresQueue({ ...deps, boss })
}

/** pg-boss behind our words: jobs enlist in our transactions, and our notifications wake the workers. */
export class PostgresQueue implements Queue, AsyncDisposable {
  readonly #boss: PgBoss
  readonly #sql: SqlClient
  readonly #notifications: Notifications
  readonly #log: Logger
  readonly #handlers = new Map<QueueName, Handler>()
  readonly #workers = new Map<QueueName, string[]>()

  constructor(deps: {
    readonly boss: PgBoss
    readonly sql: SqlClient
    readonly notifications: Notifications
    readonly log: Logger
  }) {
    this.#boss = deps.boss
    this.#sql = deps.sql
    this.#notifications = deps.notifications
    this.#log = deps.log
  }

  async enqueue<Name extends QueueName>(
    tx: Tx,
    name: Name,
    job: QueueJobs[Name],
    options: EnqueueOptions = {},
  ): Promise<void> {
    await this.#boss.send(name, job, {
      db: bossInTransaction(tx),
      // Without a key of its own a job would join any other of the queue.
      singletonKey: options.singletonKey ?? randomUUID(),
      ...(options.startAfterSeconds !== undefined && { startAfter: options.startAfterSeconds }),
      ...(options.group !== undefined && { group: { id: options.group } }),
    })
    await this.#notifications.notify(tx, 'croft_queue', { queue: name })
  }

  async enqueueAll<Name extends QueueName>(
    tx: Tx,
    name: Name,
    jobs: readonly { readonly job: QueueJobs[Name]; readonly group: string }[],
  ): Promise<void> {
    if (jobs.length === 0) return
    const rows = jobs.map(({ job, group }) => ({
      data: job,
      singletonKey: randomUUID(),
      group: { id: group },
    }))
    await this.#boss.insert(name, rows, { db: bossInTransaction(tx) })
    await this.#notifications.notify(tx, 'croft_queue', { queue: name })
  }

  handle<Name extends QueueName>(
    name: Name,
    handler: (job: QueueJobs[Name], signal: AbortSignal) => Promise<void>,
    options: HandleOptions<QueueJobs[Name]> = {},
  ): void {
    if (this.#handlers.has(name)) throw new Error(`The queue "${name}" has a handler already`)
    const { concurrency = 1, perGroup, givenUp } = options
    this.#handlers.set(name, {
      concurrency,
      perGroup,
      // Only `enqueue` writes to this queue, and it is typed by name.
      run: (job, signal) => handler(job as QueueJobs[Name], signal),
      givenUp: givenUp && ((job) => givenUp(job as QueueJobs[Name])),
    })
  }

  async run(signal: AbortSignal): Promise<void> {
    await this.#notifications.listen('croft_queue', {
      onMessage: ({ queue }) => this.#wake(queue),
      onGap: () => this.#wake(),
    })
    for (const [name, handler] of this.#handlers) await this.#startWorkers(name, handler, signal)
    if (!signal.aborted) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    }
    const names = [...this.#workers.keys()].flatMap((name) =>
      this.#handlers.get(name)?.givenUp === undefined ? [name] : [name, deadLetterQueue(name)],
    )
    this.#workers.clear()
    await Promise.all(names.map((name) => this.#boss.offWork(name, { wait: true })))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#boss.stop({ graceful: false, close: false })
  }

  async #startWorkers(name: QueueName, handler: Handler, stop: AbortSignal): Promise<void> {
    const ids: string[] = []
    this.#workers.set(name, ids)
    const polling = { batchSize: 1, pollingIntervalSeconds: POLL_SECONDS }
    const { perGroup, givenUp } = handler
    const options = {
      ...polling,
      ...(perGroup !== undefined && { groupConcurrency: perGroup }),
    }
    for (let count = 0; count < handler.concurrency; count++) {
      const id = await this.#boss.work<object>(name, options, async ([job]) => {
        // A worker that found a job looks for the next one at once, not after its pause.
        this.#boss.notifyWorker(id)
        // A fetch that was under way when the stop came may still bring a job.
        if (job && stop.aborted) await requeue(this.#sql, name, job)
        else if (job) await this.#runJob(name, handler, job)
      })
      ids.push(id)
    }
    if (givenUp === undefined) return
    const dead = deadLetterQueue(name)
    await this.#boss.work<object>(dead, polling, async ([job]) => {
      if (job && stop.aborted) await requeue(this.#sql, dead, job)
      else if (job) await givenUp(job.data)
    })
  }

  async #runJob(name: QueueName, handler: Handler, job: Job<object>): Promise<void> {
    try {
      await handler.run(job.data, job.signal)
    } catch (error) {
      const failure = error instanceof TransientFailure ? { reason: error.message } : { err: error }
      const fields = { ...failure, queue: name, jobId: job.id, attempt: job.retryCount + 1 }
      this.#log.warn(fields, 'job failed')
      throw error
    }
  }

  #wake(queue?: string): void {
    for (const [name, ids] of this.#workers) {
      if (queue === undefined || name === queue) for (const id of ids) this.#boss.notifyWorker(id)
    }
  }
}

/**
 * Gives back a job that was claimed and never started: the next worker has it at once, with as many retries left. The
 * next claim counts as another attempt, so pg-boss's own settling of this one finds nothing to settle.
 */
async function requeue(
  sql: SqlClient,
  queue: string,
  { id, retryCount }: Job<object>,
): Promise<void> {
  await sql`
    with given as (
      update pgboss.job
      set state = 'retry', retry_limit = retry_limit + 1, start_after = now(), heartbeat_on = null
      where name = ${queue} and id = ${id} and state = 'active' and retry_count = ${retryCount}
      returning name)
    select pg_notify('croft_queue', json_build_object('queue', name)::text) from given`
}
