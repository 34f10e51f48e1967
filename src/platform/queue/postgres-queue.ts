import { randomUUID } from 'node:crypto'

import { PgBoss } from 'pg-boss'

import { isDiskFull } from '#platform/disk/disk-room.ts'
import type { Logger } from '#platform/log/logger.ts'
import type { Tx } from '#platform/postgres/database.ts'
import type { Notifications } from '#platform/postgres/notifications.ts'
import type { RunStatement } from '#platform/postgres/pooled-connection.ts'

import { bossInTransaction, bossOnStatements } from './boss-database.ts'
import { DeadHolders } from './dead-holders.ts'
import { QueueActivity, type QueueDepth } from './queue-activity.ts'
import { deadLetterQueue } from './queue-policies.ts'
import { QueueSupervision, SUPERVISED_SECONDS } from './queue-supervision.ts'
import { QueueWarnings } from './queue-warnings.ts'
import {
  type EnqueueOptions,
  type HandleOptions,
  type Queue,
  type QueueJobs,
  type QueueName,
  TransientFailure,
} from './queue.ts'
import { type Lane, Runners } from './runners.ts'
import { SlowLane } from './slow-lane.ts'
import { type ClaimedJob, TurnClaims } from './turn-claims.ts'

/** How often retries, delayed jobs and dead letters are looked for; new jobs are announced by a notification. */
const POLL_SECONDS = 2

/** How long a job waits that had no room. */
const DISK_FULL_SECONDS = 30

/** What a job that was given up may take to release what it holds. */
const UNWIND_MS = 2000

interface Handler {
  readonly lanes: readonly Lane[]
  readonly perGroup: number | undefined
  readonly slow: SlowLane | undefined
  run(job: object, signal: AbortSignal): Promise<void>
  readonly givenUp: ((job: object) => Promise<void>) | undefined
}

interface Run {
  readonly name: QueueName
  readonly handler: Handler
  readonly job: ClaimedJob
}

interface UnderWay {
  readonly controller: AbortController
  readonly abandon: () => void
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
    // It would ask a dozen questions every five seconds, whether there are jobs or not.
    supervise: false,
    monitorIntervalSeconds: SUPERVISED_SECONDS,
  })
  boss.on('error', (error) => deps.log.error({ err: error }, 'queue'))
  const ready = async (name: string): Promise<number> =>
    (await selectDepths(deps.statements)).find(({ queue }) => queue === name)?.ready ?? 0
  const warnings = new QueueWarnings({ log: deps.log, ready })
  boss.on('warning', (warning) => void warnings.warn(warning))
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
  /** By the queue, and by that of its dead letters. */
  readonly #runners = new Map<string, Runners>()
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
    // What begins later is found by the poll.
    if ((options.startAfterSeconds ?? 0) <= 0) await this.#announce(tx, name)
  }

  async enqueueAll<Name extends QueueName>(
    tx: Tx,
    name: Name,
    jobs: readonly { readonly job: QueueJobs[Name]; readonly group?: string }[],
  ): Promise<void> {
    if (jobs.length === 0) return
    const rows = jobs.map(({ job, group }) => ({
      data: job,
      singletonKey: randomUUID(),
      ...(group !== undefined && { group: { id: group } }),
    }))
    await this.#boss.insert(name, rows, { db: bossInTransaction(tx) })
    await this.#announce(tx, name)
  }

  #announce(tx: Tx, queue: QueueName): Promise<void> {
    return this.#notifications.notify(tx, 'croft_queue', { queue })
  }

  async hasOthers(name: QueueName, singletonKey: string): Promise<boolean> {
    const { rows } = await this.#statements<{ found: boolean }>(
      `select exists (
         select from pgboss.job waiting
         where name = $1 and state < 'active' and start_after <= now() and singleton_key <> $2
           and not exists (
             select from pgboss.job
             where name = $1 and state = 'active'
               and pgboss.site_key(data) = pgboss.site_key(waiting.data))
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
    const { givenUp, perGroup } = options
    this.activity.open(name)
    this.#handlers.set(name, {
      lanes: lanesOf(options),
      perGroup,
      slow: options.slow && new SlowLane(options.slow),
      // Only `enqueue` writes to this queue, and it is typed by name.
      run: (job, signal) => handler(job as QueueJobs[Name], signal),
      givenUp: givenUp && ((job) => givenUp(job as QueueJobs[Name])),
    })
  }

  /** What each queue holds in all processes. */
  depths(): Promise<QueueDepth[]> {
    return selectDepths(this.#statements)
  }

  async run(stop: AbortSignal, handBack?: AbortSignal): Promise<void> {
    await this.#notifications.listen('croft_queue', {
      onMessage: ({ queue }) => this.#wake(queue),
      onGap: () => this.#wake(),
    })
    for (const [name, handler] of this.#handlers) this.#startRunners(name, handler, stop)
    this.#wake()
    const failed = (error: unknown) => this.#log.error({ err: error }, 'queue')
    using supervision = new QueueSupervision({ boss: this.#boss, failed })
    const poll = setInterval(() => void this.#poll(supervision), POLL_SECONDS * 1000)
    await Promise.all([aborted(stop), this.#watchHolders(stop)])
    clearInterval(poll)
    const giveUp = () => this.#underWay.giveUp()
    if (handBack?.aborted) giveUp()
    handBack?.addEventListener('abort', giveUp, { once: true })
    await Promise.all([...this.#runners.values()].map((runners) => runners.drained()))
    this.#runners.clear()
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

  #startRunners(name: QueueName, handler: Handler, stop: AbortSignal): void {
    const { lanes, perGroup, slow, givenUp } = handler
    this.#open(name, { lanes, perGroup, slow }, stop, (job, signal) =>
      this.#runJob({ name, handler, job }, signal),
    )
    if (givenUp === undefined) return
    const dead = { lanes: lanesOf({}), perGroup: undefined, slow: undefined }
    this.#open(deadLetterQueue(name), dead, stop, (job) => givenUp(job.data))
  }

  #open(
    queue: string,
    { lanes, perGroup, slow }: Pick<Handler, 'lanes' | 'perGroup' | 'slow'>,
    stop: AbortSignal,
    run: (job: ClaimedJob, signal: AbortSignal) => Promise<void>,
  ): void {
    const runners = new Runners({
      queue,
      lanes,
      slow,
      claims: new TurnClaims(this.#statements, queue, perGroup),
      boss: this.#boss,
      // A claim that was in flight when the stop came may still bring a job.
      run: (job, signal) =>
        stop.aborted ? requeue(this.#statements, queue, job) : run(job, signal),
      failed: (error) => this.#log.error({ err: error, queue }, 'queue'),
      stop,
    })
    this.#runners.set(queue, runners)
  }

  async #runJob({ name, handler, job }: Run, claim: AbortSignal): Promise<void> {
    const about = { queue: name, jobId: job.id, attempt: job.retryCount + 1 }
    try {
      const work = (signal: AbortSignal) => handler.run(job.data, signal)
      if ((await this.#underWay.run(work, claim)) === 'done') {
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

  /** Retries, and jobs with a delay, are not announced. */
  async #poll(supervision: QueueSupervision): Promise<void> {
    try {
      const { rows } = await this.#statements<{ queue: string | null }>(
        `select queue from unnest($1::text[]) queue where exists (
           select from pgboss.job
           where name = queue and state < 'active' and not blocked and start_after <= now())
         union all
         select null where exists (select from pgboss.job where state = 'active')`,
        [[...this.#runners.keys()]],
      )
      supervision.isBusy = rows.length > 0
      for (const { queue } of rows) if (queue !== null) this.#wake(queue)
    } catch (error) {
      this.#log.error({ err: error }, 'queue')
    }
  }

  #wake(queue?: string): void {
    for (const [name, runners] of this.#runners) {
      if (queue === undefined || name === queue) runners.wake()
    }
  }
}

const FIRST = ['created'] as const
const AGAIN = ['retry'] as const

type Places = Pick<HandleOptions<never>, 'concurrency' | 'perSite' | 'oneEach' | 'retryPlaces'>

/** Places for sites that have nothing running come first, so that the others are left to further jobs of a site. */
function lanesOf({ concurrency = 1, perSite, oneEach = 0, retryPlaces = 0 }: Places): Lane[] {
  const states = retryPlaces > 0 ? FIRST : [...FIRST, ...AGAIN]
  const lanes = [
    { places: oneEach, states, perSite: 1 },
    { places: concurrency, states, perSite },
    { places: retryPlaces, states: AGAIN, perSite },
  ]
  return lanes.filter(({ places }) => places > 0)
}

/** As they were counted by the last supervision. */
async function selectDepths(statements: RunStatement): Promise<QueueDepth[]> {
  const { rows } = await statements<QueueDepth>(
    `select name as queue, ready_count as ready, deferred_count as deferred, active_count as active
     from pgboss.queue`,
    [],
  )
  return rows
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
}

/**
 * Gives back a job that was claimed and never started, was aborted, or had no room: the next worker has it then, with as many
 * retries left. The next claim counts as another attempt, so pg-boss's own settling of this one finds nothing to settle.
 */
async function requeue(
  statements: RunStatement,
  queue: string,
  { id, retryCount }: ClaimedJob,
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

/** The jobs that this process runs, so that all of them can be given up at once. */
class JobsUnderWay {
  readonly #jobs = new Set<UnderWay>()
  #givenUp = false

  /** Runs the work until it is over or given up. `claim` is aborted when the job is no longer this process's. */
  async run(
    work: (signal: AbortSignal) => Promise<void>,
    claim: AbortSignal,
  ): Promise<'done' | 'givenUp'> {
    const controller = new AbortController()
    const { promise: abandoned, resolve: abandon } = Promise.withResolvers<void>()
    const lose = () => controller.abort(claim.reason)
    claim.addEventListener('abort', lose, { once: true })
    const job = { controller, abandon }
    this.#jobs.add(job)
    try {
      await Promise.race([work(controller.signal), abandoned])
    } catch (error) {
      if (!this.#givenUp) throw error
    } finally {
      claim.removeEventListener('abort', lose)
      this.#jobs.delete(job)
    }
    // What ends now may have ended only because it was aborted.
    return this.#givenUp ? 'givenUp' : 'done'
  }

  /** Tells every job that runs that it is no longer this process's. */
  abort(reason: Error): void {
    for (const { controller } of this.#jobs) controller.abort(reason)
  }

  /** Tells every job to end, and waits for none longer than two seconds. */
  giveUp(): void {
    this.#givenUp = true
    const jobs = [...this.#jobs]
    for (const { controller } of jobs) controller.abort(new Error('The service is shutting down'))
    setTimeout(() => {
      for (const { abandon } of jobs) abandon()
    }, UNWIND_MS)
  }
}
