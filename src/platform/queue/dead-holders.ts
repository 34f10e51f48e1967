import type { Logger } from '#platform/log/logger.ts'
import type { RunStatement } from '#platform/postgres/pooled-connection.ts'
import { PRESENCE_LOCK } from '#platform/postgres/presence.ts'

const LOOK_MS = 400
/** While all are there and this process sees them, it asks no more often than that. */
const CALM_LOOK_MS = 1000
/** How long a process may have had no session before it counts as dead: one that lives has begun another by then. */
const ABSENT_MS = 3700
/** Looks that are further apart than this may have missed that it was there in between. */
const MAX_PAUSE_MS = 1500
/** How long after its last look a process that fails to look counts on not being taken for dead. Less than others wait. */
const UNSEEN_MS = 2800

/**
 * Gives the jobs of processes that died to others, seconds after their sessions ended with them. A process that falls silent
 * keeps its sessions, and its jobs until their heartbeat is missed. One that lives and lost its sessions begins others at once;
 * where it cannot, it gives its jobs up itself before another takes them.
 */
export class DeadHolders {
  readonly #deps
  /** Since when each holder has been absent in every look. */
  #absentSince = new Map<number, number>()
  #lookedMs = 0
  #seenMs = performance.now()
  #isLooking = false
  #isCut = false

  constructor(deps: {
    readonly statements: RunStatement
    readonly log: Logger
    /** This process's own name. */
    readonly holder: number
    /** This process may be taken for dead: what it holds is no longer its own. */
    readonly unseen: () => void
  }) {
    this.#deps = deps
  }

  async run(stop: AbortSignal): Promise<void> {
    if (stop.aborted) return
    const timer = setInterval(() => this.#tick(), LOOK_MS)
    await new Promise((resolve) => stop.addEventListener('abort', resolve, { once: true }))
    clearInterval(timer)
  }

  #tick(): void {
    if (this.#isCut) this.#checkUnseen()
    const isCalm = !this.#isCut && this.#absentSince.size === 0
    const isDue = !isCalm || performance.now() - this.#lookedMs >= CALM_LOOK_MS
    if (this.#isLooking || !isDue) return
    this.#isLooking = true
    void this.#look().finally(() => {
      this.#isLooking = false
    })
  }

  async #look(): Promise<void> {
    const askedMs = performance.now()
    try {
      const absent = await this.#selectAbsent()
      // The statement ran in a session that others can see.
      this.#seenMs = askedMs
      this.#isCut = false
      const dead = this.#note(absent, askedMs)
      if (dead.length > 0) await this.#release(dead)
    } catch (error) {
      this.#isCut = true
      this.#checkUnseen()
      this.#absentSince.clear()
      this.#deps.log.debug({ err: error }, 'the holders of jobs could not be looked for')
    }
  }

  /** Once for each time. Who only has no time, or waits for an answer of a server that works on it, has sessions. */
  #checkUnseen(): void {
    if (performance.now() - this.#seenMs <= UNSEEN_MS) return
    this.#seenMs = Infinity
    this.#deps.unseen()
  }

  /** Those that have been absent for long enough. */
  #note(absent: readonly number[], askedMs: number): number[] {
    const answeredMs = performance.now()
    const before = askedMs - this.#lookedMs > MAX_PAUSE_MS ? new Map() : this.#absentSince
    this.#lookedMs = answeredMs
    this.#absentSince = new Map(absent.map((holder) => [holder, before.get(holder) ?? answeredMs]))
    return absent.filter(
      (holder) => askedMs - (this.#absentSince.get(holder) ?? askedMs) >= ABSENT_MS,
    )
  }

  async #selectAbsent(): Promise<number[]> {
    const { rows } = await this.#deps.statements<{ holder: number }>(
      `select distinct holder from pgboss.job
       where state = 'active' and holder is not null and holder <> $1 and ${IS_ABSENT}`,
      [this.#deps.holder],
    )
    return rows.map(({ holder }) => holder)
  }

  /** The next worker has them at once; that was one of their tries. After the last one the dead-letter queue reports them. */
  async #release(holders: readonly number[]): Promise<void> {
    const { rows } = await this.#deps.statements<{ name: string; jobs: number }>(
      `with released as (
         update pgboss.job
         set state = case when retry_count < retry_limit then 'retry' else state end,
             start_after = case when retry_count < retry_limit then now() else start_after end,
             heartbeat_on = case when retry_count < retry_limit then null else 'epoch'::timestamptz end,
             holder = null
         where state = 'active' and holder = any($1::int[]) and ${IS_ABSENT}
         returning name)
       select name, count(*)::int as jobs,
         pg_notify('croft_queue', json_build_object('queue', name)::text) is not null as notified
       from released group by name`,
      [[...holders]],
    )
    for (const { name, jobs } of rows) {
      this.#deps.log.warn({ queue: name, jobs }, 'jobs of a process that died are given to others')
    }
  }
}

/** No session of the holder of `job` is left. */
const IS_ABSENT = `not exists (
  select 1 from pg_locks where locktype = 'advisory' and granted and objsubid = 2
    and database = (select oid from pg_database where datname = current_database())
    and classid = ${PRESENCE_LOCK} and objid = job.holder::oid)`
