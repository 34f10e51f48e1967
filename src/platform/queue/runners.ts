import type { PgBoss } from 'pg-boss'

import { StatementBatcher } from '#base/statement-batcher.ts'
import { withTimeout } from '#base/with-timeout.ts'

import type { SlowLane } from './slow-lane.ts'
import type { ClaimedJobs, ClaimedJob, JobState, TurnClaims } from './turn-claims.ts'

/** Half of the time after which a worker that gives no sign of life counts as dead. */
const HEARTBEAT_MS = 5000

/** Jobs that are marked as done in one statement. */
const MOST_COMPLETED = 100

/** Places for jobs of one kind. */
export interface Lane {
  readonly places: number
  readonly states: readonly JobState[]
  /** Takes only jobs of sites of which fewer run in all processes. */
  readonly perSite: number | undefined
}

export interface RunnersOptions {
  readonly queue: string
  /** The first one with a free place takes a job. */
  readonly lanes: readonly Lane[]
  readonly slow: SlowLane | undefined
  readonly claims: TurnClaims
  readonly boss: Pick<PgBoss, 'complete' | 'fail'>
  /** Fails when the job has to be tried again. The signal is aborted when it is no longer this process's. */
  readonly run: (job: ClaimedJob, signal: AbortSignal) => Promise<void>
  /** The database did not answer, or the like. */
  readonly failed: (error: unknown) => void
  /** From then on none is claimed. */
  readonly stop: AbortSignal
}

/** Runs the jobs of one queue, as many at once as its lanes have places. */
export class Runners {
  readonly #options: RunnersOptions
  readonly #running: Map<Lane, number>
  readonly #held = new Map<ClaimedJob, AbortController>()
  /** Those that have ended and are being marked so, as many at a time: to touch them beside would be a deadlock. */
  readonly #completing = new Set<ClaimedJob>()
  readonly #completions: StatementBatcher<Pick<ClaimedJob, 'id' | 'retryCount'>, undefined>
  #heartbeat: NodeJS.Timeout | undefined
  #filling: Promise<void> | undefined
  #isWoken = false
  /** Whether jobs that are due waited when one was last looked for: otherwise the next one is announced. */
  #isMoreDue = false
  #ended = Promise.withResolvers<void>()

  constructor(options: RunnersOptions) {
    this.#options = options
    this.#running = new Map(options.lanes.map((lane) => [lane, 0]))
    this.#completions = new StatementBatcher({
      send: async (queue, jobs) => {
        await options.boss.complete(queue, [...jobs])
        return jobs.map(() => undefined)
      },
      most: MOST_COMPLETED,
      underWay: 1,
    })
  }

  /** Looks for jobs where a place is free. */
  wake(): void {
    if (this.#options.stop.aborted) return
    this.#isWoken = true
    this.#filling ??= this.#fill().finally(() => {
      this.#filling = undefined
      if (this.#isWoken) this.wake()
    })
  }

  /** Resolves after the stop, when the last job has ended. */
  async drained(): Promise<void> {
    await this.#filling
    while (this.#held.size > 0) await this.#ended.promise
  }

  async #fill(): Promise<void> {
    this.#isWoken = false
    const isMoreDue = new Map<readonly JobState[], boolean>()
    try {
      for (const lane of this.#options.lanes) {
        if (isMoreDue.get(lane.states) === false) continue
        const isMore = await this.#fillLane(lane)
        // What a full one was not asked for is unknown.
        isMoreDue.set(lane.states, isMore ?? true)
      }
      this.#isMoreDue = [...isMoreDue.values()].some(Boolean)
    } catch (error) {
      this.#isMoreDue = true
      this.#options.failed(error)
    }
  }

  /** Whether there are due jobs that the lane has no place for, or that may not run now; undefined when it was full before. */
  async #fillLane(lane: Lane): Promise<boolean | undefined> {
    let isMoreDue: boolean | undefined
    for (;;) {
      const count = lane.places - (this.#running.get(lane) ?? 0)
      if (count <= 0 || this.#options.stop.aborted) return isMoreDue
      const claim = await this.#claim(lane, count)
      ;({ isMoreDue } = claim)
      if (!isMoreDue || claim.jobs.length === 0) return isMoreDue
    }
  }

  async #claim(lane: Lane, count: number): Promise<ClaimedJobs> {
    const { claims, slow } = this.#options
    const { states, perSite } = lane
    const skippedGroups = slow?.skipped ?? []
    const claim = await claims.claim({ count, states, perSite, skippedGroups })
    for (const job of claim.jobs) void this.#run(job, lane)
    if (this.#held.size === 0) claims.restart()
    return claim
  }

  async #run(job: ClaimedJob, lane: Lane): Promise<void> {
    const claim = new AbortController()
    this.#held.set(job, claim)
    const leavePlace = this.#takePlace(job, lane)
    this.#heartbeat ??= setInterval(() => void this.#touch(), HEARTBEAT_MS)
    try {
      await this.#settle(job, claim)
    } catch (error) {
      this.#options.failed(error)
    }
    this.#held.delete(job)
    leavePlace()
    if (this.#held.size === 0) {
      clearInterval(this.#heartbeat)
      this.#heartbeat = undefined
    }
    this.#ended.resolve()
    this.#ended = Promise.withResolvers()
    // A claim in flight may have found no place.
    if (this.#isMoreDue || this.#filling !== undefined) this.wake()
    else if (this.#held.size === 0) this.#options.claims.restart()
  }

  /** Takes a place of the lane, or one for what takes long: at once if the group is known for it, else as soon as this one does. */
  #takePlace({ group }: ClaimedJob, lane: Lane): () => void {
    const { slow } = this.#options
    const leaveLane = () => this.#count(lane, -1)
    const isApart = slow?.isSlow(group) === true && slow.tryHold()
    if (!isApart) this.#count(lane, 1)
    if (!slow) return leaveLane
    slow.begin(group)
    let leave = isApart ? () => slow.letGo() : leaveLane
    const timer = setTimeout(() => {
      slow.note(group, 'slow')
      if (isApart || !slow.tryHold()) return
      leaveLane()
      leave = () => slow.letGo()
      this.wake()
    }, slow.afterMs)
    const begunMs = performance.now()
    return () => {
      clearTimeout(timer)
      slow.end(group)
      if (performance.now() - begunMs < slow.afterMs) slow.note(group, 'quick')
      leave()
    }
  }

  #count(lane: Lane, change: number): void {
    this.#running.set(lane, (this.#running.get(lane) ?? 0) + change)
  }

  async #settle(job: ClaimedJob, claim: AbortController): Promise<void> {
    const { boss, queue, run } = this.#options
    const { id, retryCount } = job
    try {
      await within(job.expireInSeconds, claim, run(job, claim.signal))
      this.#completing.add(job)
      await this.#completions.add(queue, { id, retryCount })
    } catch (error) {
      await boss.fail(queue, { id, retryCount }, asObject(error))
    } finally {
      this.#completing.delete(job)
    }
  }

  /** Says that the process lives, and tells the jobs that are no longer its own. */
  async #touch(): Promise<void> {
    const { claims, failed } = this.#options
    const held = [...this.#held].filter(
      ([job, claim]) => !claim.signal.aborted && !this.#completing.has(job),
    )
    if (held.length === 0) return
    try {
      const touched = await claims.touch(held.map(([job]) => job))
      for (const [{ id }, claim] of held) {
        if (!touched.has(id)) claim.abort(new Error('The job was given to another worker'))
      }
    } catch (error) {
      // It says nothing about the claims.
      failed(error)
    }
  }
}

const asObject = (error: unknown): object => (error instanceof Error ? error : { error })

/** Gives up work that takes too long: the queue's supervisor would give its job to another one. */
async function within(seconds: number, claim: AbortController, work: Promise<void>): Promise<void> {
  await withTimeout(work, seconds * 1000, () => {
    const late = new Error(`The job ran longer than ${seconds} s`)
    claim.abort(late)
    throw late
  })
}
