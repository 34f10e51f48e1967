import { randomUUID } from 'node:crypto'

import { type Job, PgBoss } from 'pg-boss'

import { isDiskFull } from '#platform/disk/disk-room.ts'
import type { Logger } from '#platform/log/logger.ts'
import type { Tx } from '#platform/postgres/database.ts'
import type { Notifications } from '#platform/postgres/notifications.ts'
import type { RunStatement } from '#platform/postgres/pooled-connection.ts'

import { bossInTransaction, bossOnStatements } from './boss-database.ts'
import { DeadHolders } from './dead-holders.ts'
import { JobsUnderWay } from './jobs-under-way.ts'
import { QueueActivity, type QueueDepth } from './queue-activity.ts'
import { deadLetterQueue } from './queue-policies.ts'
import { QueueWarnings } from './queue-warnings.ts'
import {
  type EnqueueOptions,
  type HandleOptions,
  type Queue,
  type QueueJobs,
  type QueueName,
  TransientFailure,
} from './queue.ts'
import { Runners } from './runners.ts'

/** How often retries, delayed jobs and dead letters are looked for; new jobs are announced by a notification. */
const POLL_SECONDS = 2
/** Places for groups that have nothing running look first, so that those for anybody are left to further jobs of a group. */
const HEAD_START_MS = 30
/** How long a job waits that had no room. */
const DISK_FULL_SECONDS = 30
/** How often the jobs of dead workers are looked for. */
const MONITOR_SECONDS = 5

interface Handler {
  readonly concurrency: number
  readonly perGroup: number | undefined
  readonly oneEach: number
  run(job: object, signal: AbortSignal): Promise<void>
  readonly givenUp: ((job: object) => Promise<void>) | undefined
}

/** Starts a queue on an installed schema. `statements` are the app role's. */
export async function openQueue(deps: {
  readonly statements: RunStatement
  readonly notifications: Notifications
  readonly log: Logger
  /** What the sessions of `statements` call this process; undefined where they have no name. */
  readonly holder: number | undefined
}): Promise<PostgresQueue> {
  const boss = new PgBoss({
    db: bossOnStatements(deps.statements),
    // Changes of the schema, and indexes, are the owner's business: see `installQueue`.
    migrate: false,
    createSchema: false,
    reindex: false,
    schedule: false,
    superviseIntervalSeconds: MONITOR_SECONDS,
    monitorIntervalSeconds: MONITOR_SECONDS,
  })
  boss.on('error', (error) => deps.log.error({ err: error }, 'queue'))
  const warnings = new QueueWarnings(deps.log)
  boss.on('warning', (warning) => warnings.warn(warning))
  await boss.start()
  return new PostgresQueue({ ...deps, boss })
}

/** pg-boss behind our words: jobs enlist in our transactions, and our notifications wake the workers. */
export class PostgresQueue implements Queue, AsyncDisposable {
  readonly activity = new QueueActivity()
  readonly #boss: PgBoss
  readonly #statements: RunStatement
  readonly #notifications: Notifications
  readonly #log: Logger
  readonly #holder: number | undefined
  readonly #handlers = new Map<QueueName, Handler>()
  readonly #runners = new Map<QueueName, readonly Runners[]>()
  readonly #underWay = new JobsUnderWay()

  constructor(deps: {
    readonly boss: PgBoss
    readonly statements: RunStatement
    readonly notifications: Notifications
    readonly log: Logger
    readonly holder: number | undefined
  }) {
    this.#boss = deps.boss
    this.#statements = deps.statements
    this.#notifications = deps.notifications
    this.#log = deps.log
    this.#holder = deps.holder
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

  async hasOthers(name: QueueName, singletonKey: string): Promise<boolean> {
    const { rows } = await this.#statements<{ found: boolean }>(
      `select exists (
         select from pgboss.job
         where name = $1 and state < 'active' and start_after <= now() and singleton_key <> $2
       ) as found`,
      [name, singletonKey],
    )
    return rows[0]?.found === true
  }

  handle<Name extends QueueName>(
    name: Name,
    handler: (job: QueueJobs[Name], signal: AbortSignal) => Promise<void>,
    options: HandleOptions<QueueJobs[Name]> = {},
  ): void {
    if (this.#handlers.has(name)) throw new Error(`The queue "${name}" has a handler already`)
    const { concurrency = 1, perGroup, oneEach = 0, givenUp } = options
    this.activity.open(name)
    this.#handlers.set(name, {
      concurrency,
      perGroup,
      oneEach,
      // Only `enqueue` writes to this queue, and it is typed by name.
      run: (job, signal) => handler(job as QueueJobs[Name], signal),
      givenUp: givenUp && ((job) => givenUp(job as QueueJobs[Name])),
    })
  }

  /** What each queue holds in all processes. */
  async depths(): Promise<QueueDepth[]> {
    const { rows } = await this.#statements<QueueDepth>(
      `select name as queue, ready_count as ready, deferred_count as deferred, active_count as active
       from pgboss.queue`,
      [],
    )
    return rows
  }

  async run(stop: AbortSignal, handBack?: AbortSignal): Promise<void> {
    await this.#notifications.listen('croft_queue', {
      onMessage: ({ queue }) => this.#wake(queue),
      onGap: () => this.#wake(),
    })
    for (const [name, handler] of this.#handlers) await this.#startRunners(name, handler, stop)
    const poll = setInterval(() => this.#wake(), POLL_SECONDS * 1000)
    await Promise.all([aborted(stop), this.#watchHolders(stop)])
    clearInterval(poll)
    this.#runners.clear()
    const giveUp = () => this.#underWay.giveUp()
    if (handBack?.aborted) giveUp()
    handBack?.addEventListener('abort', giveUp, { once: true })
    await Promise.all(this.#queues().map((name) => this.#boss.offWork(name, { wait: true })))
    handBack?.removeEventListener('abort', giveUp)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#boss.stop({ graceful: false, close: false })
  }

  async #watchHolders(stop: AbortSignal): Promise<void> {
    if (this.#holder === undefined) return
    const unseen = () => this.#underWay.abort(new Error('The database was out of reach'))
    await new DeadHolders({
      statements: this.#statements,
      log: this.#log,
      holder: this.#holder,
      unseen,
    }).run(stop)
  }

  /** Every queue that is worked, and those of the dead letters that somebody is told of. */
  #queues(): string[] {
    return Array.from(this.#handlers, ([name, { givenUp }]) =>
      givenUp === undefined ? [name] : [name, deadLetterQueue(name)],
    ).flat()
  }

  async #startRunners(name: QueueName, handler: Handler, stop: AbortSignal): Promise<void> {
    const { concurrency, perGroup, oneEach, givenUp } = handler
    const shared = {
      queue: name,
      // A fetch that was under way when the stop came may still bring a job.
      run: (job: Job<object>) =>
        stop.aborted ? requeue(this.#statements, name, job) : this.#runJob(name, handler, job),
      // One that ends looks for the next by itself, but only within its own bounds.
      ended: () => (oneEach > 0 ? this.#wake(name) : undefined),
      stop,
    }
    const forAnybody = new Runners(this.#boss, { ...shared, count: concurrency, perGroup })
    const first = new Runners(this.#boss, { ...shared, count: oneEach, perGroup: 1 })
    this.#runners.set(name, oneEach > 0 ? [first, forAnybody] : [forAnybody])
    this.#wake(name)
    if (givenUp === undefined) return
    const dead = deadLetterQueue(name)
    const polling = { batchSize: 1, pollingIntervalSeconds: POLL_SECONDS }
    await this.#boss.work<object>(dead, polling, async ([job]) => {
      if (job && stop.aborted) await requeue(this.#statements, dead, job)
      else if (job) await givenUp(job.data)
    })
  }

  async #runJob(name: QueueName, handler: Handler, job: Job<object>): Promise<void> {
    const about = { queue: name, jobId: job.id, attempt: job.retryCount + 1 }
    try {
      const work = (signal: AbortSignal) => handler.run(job.data, signal)
      if ((await this.#underWay.run(work, job.signal)) === 'done') {
        this.activity.ended(name, 'done')
        return
      }
    } catch (error) {
      // Nothing is wrong with it: it comes again, however long the disk is full.
      if (isDiskFull(error)) {
        this.activity.ended(name, 'handed_back')
        return requeue(this.#statements, name, job, DISK_FULL_SECONDS)
      }
      this.activity.ended(name, 'failed')
      const failure = error instanceof TransientFailure ? { reason: error.message } : { err: error }
      this.#log.warn({ ...failure, ...about }, 'job failed')
      throw error
    }
    await requeue(this.#statements, name, job)
    this.activity.ended(name, 'handed_back')
    this.#log.info(about, 'job handed back')
  }

  #wake(queue?: string): void {
    for (const [name, runners] of this.#runners) {
      if (queue !== undefined && name !== queue) continue
      const [first, second] = runners
      void first?.wake()
      if (second !== undefined) setTimeout(() => void second.wake(), HEAD_START_MS)
    }
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
}

/**
 * Gives back a job that was claimed and never started, was told to end, or had no room: the next worker has it then, with as many
 * retries left. The next claim counts as another attempt, so pg-boss's own settling of this one finds nothing to settle.
 */
async function requeue(
  statements: RunStatement,
  queue: string,
  { id, retryCount }: Job<object>,
  seconds = 0,
): Promise<void> {
  await statements(
    `with given as (
       update pgboss.job
       set state = 'retry', retry_limit = retry_limit + 1,
         start_after = now() + make_interval(secs => $4), heartbeat_on = null
       where name = $1 and id = $2 and state = 'active' and retry_count = $3
       returning name)
     select pg_notify('croft_queue', json_build_object('queue', name)::text) from given`,
    [queue, id, retryCount, seconds],
  )
}
