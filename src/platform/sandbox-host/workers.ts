import type { PendingCall } from './pending-call.ts'
import { progressOf } from './progress-file.ts'
import type { SiteQueue } from './site-queue.ts'
import { type HostRole, yields, type YieldingRole } from './slot-key.ts'
import type { WorkerConnection } from './worker-connection.ts'

/** A worker that has not answered for that long gets no further sites until it has. */
export const STUCK_MS = 5
/**
 * So long a site waits for its own worker before it goes to one that would have to load it first: that takes as long, and
 * the memory of a second isolate. A worker that makes an isolate is silent for less.
 */
const WORTH_LOADING_MS = 15

export interface WorkersDeps {
  /** How many hosts run the sites whose calls are short, at most. */
  readonly ordinaryHosts: number
  /** A call waits for a host of that kind. */
  needed(role: HostRole): void
}

/** The workers that are connected, and which of them a site's calls are given to. */
export class Workers {
  readonly #deps: WorkersDeps
  readonly #all = new Set<WorkerConnection>()
  /** Of workers that are stuck: the only site whose calls they run, as it was at that moment. */
  readonly #stuckOn = new WeakMap<WorkerConnection, { atMs: number; site: string | undefined }>()

  constructor(deps: WorkersDeps) {
    this.#deps = deps
  }

  get all(): ReadonlySet<WorkerConnection> {
    return this.#all
  }

  add(worker: WorkerConnection): void {
    this.#all.add(worker)
  }

  /** Whether it was there. */
  remove(worker: WorkerConnection): boolean {
    return this.#all.delete(worker)
  }

  /**
   * The worker for the site's next call: of its kind, or an ordinary one that is not stuck. None while the one that it needs is
   * not there, or while the site itself keeps one busy: it waits for that, and delays no other site.
   */
  for({ key, next, history }: SiteQueue, nowMs: number): WorkerConnection | undefined {
    const role = next?.purpose === 'load' ? 'load' : history.roleAt(nowMs)
    if (yields(role)) return this.#onDemand(role, history.heldUntilMs > nowMs)
    if (isByHand(next)) return this.#apart()
    if (role === 'apart') return this.#atRest(key) ?? this.#apart()
    if (this.#keepsBusy(key, nowMs)) return undefined
    return history.isMeasured || this.#canSpareOne(nowMs)
      ? this.#forShortCalls(key, next, nowMs)
      : idle(this.#apart())
  }

  #onDemand(role: YieldingRole, isHeld: boolean): WorkerConnection | undefined {
    this.#deps.needed(role)
    return isHeld ? undefined : this.#at(role, 0)
  }

  #apart(): WorkerConnection | undefined {
    this.#deps.needed('apart')
    return this.#at('apart', 0)
  }

  /** While there is but one host and it has nothing else to do, it runs every site: a second one comes with a second caller. */
  #atRest(key: string): WorkerConnection | undefined {
    if (this.#at('apart', 0) || this.#at('spare', 0)) return undefined
    const own = this.#own(key)
    return own?.activeCalls.size === 0 && own.unacked.length === 0 ? own : undefined
  }

  /** Of the ordinary ones that run, the one that the site's calls go to: few sites move when one comes or goes. */
  #own(key: string): WorkerConnection | undefined {
    const value = hash(key)
    for (let count = this.#deps.ordinaryHosts; count > 0; count -= 1) {
      const worker = this.#at('ordinary', value % count)
      if (worker) return worker
    }
    return undefined
  }

  #forShortCalls(
    key: string,
    next: PendingCall | undefined,
    nowMs: number,
  ): WorkerConnection | undefined {
    const own = this.#own(key)
    const silentMs = own?.silentMs(nowMs) ?? Number.POSITIVE_INFINITY
    if (silentMs <= STUCK_MS) return own
    if (own) this.#deps.needed('spare')
    const free = this.#free(own, nowMs)
    const loaded = free.find((worker) => next && worker.hasLoaded(next))
    if (loaded) return loaded
    return silentMs > WORTH_LOADING_MS ? (free[0] ?? own) : undefined
  }

  /** Whether a worker is stuck on a call of that site. A second one would only be stuck, too. */
  #keepsBusy(key: string, nowMs: number): boolean {
    for (const worker of this.#all) {
      if (worker.silentMs(nowMs) > STUCK_MS && this.#siteOf(worker, nowMs) === key) return true
    }
    return false
  }

  #siteOf(worker: WorkerConnection, nowMs: number): string | undefined {
    const known = this.#stuckOn.get(worker)
    if (known?.atMs === nowMs) return known.site
    const site = stuckOn(worker)
    this.#stuckOn.set(worker, { atMs: nowMs, site })
    return site
  }

  /** Whether a call of unknown cost leaves a worker to the others: when some are stuck already, it is not given the last. */
  #canSpareOne(nowMs: number): boolean {
    const workers = [...this.#all].filter(
      ({ place: { role }, isLeaving }) => !isLeaving && (role === 'ordinary' || role === 'spare'),
    )
    const free = workers.filter((worker) => worker.silentMs(nowMs) <= STUCK_MS)
    return free.length > 1 || free.length === workers.length
  }

  /** Those that are not stuck: the other ordinary ones, the spare, and the one apart while it is idle. */
  #free(own: WorkerConnection | undefined, nowMs: number): WorkerConnection[] {
    const others = [...this.#all].filter(
      (worker) => worker !== own && worker.place.role === 'ordinary' && !worker.isLeaving,
    )
    const running = [...others, this.#at('spare', 0)].filter(
      (worker) => worker !== undefined && worker.silentMs(nowMs) <= STUCK_MS,
    )
    return [...running, idle(this.#at('apart', 0))].filter((worker) => worker !== undefined)
  }

  #at(role: HostRole, index: number): WorkerConnection | undefined {
    for (const worker of this.#all) {
      const { place, isLeaving } = worker
      if (place.role === role && place.index === index && !isLeaving) return worker
    }
    return undefined
  }
}

const idle = (worker: WorkerConnection | undefined): WorkerConnection | undefined =>
  worker?.activeCalls.size === 0 ? worker : undefined

/** The site whose timers or answers the worker runs by its own account, or the only one in what it was sent. */
function stuckOn(worker: WorkerConnection): string | undefined {
  const progress = progressOf(worker)
  const calls =
    progress.kind === 'slot'
      ? worker.activeCallsIn(progress.slot)
      : (worker.unacked[0]?.sections ?? []).flatMap((section) => section.calls)
  const sites = new Set(calls.map(({ queueKey }) => queueKey))
  return sites.size === 1 ? calls[0]?.queueKey : undefined
}

function hash(text: string): number {
  let value = 0
  for (let index = 0; index < text.length; index += 1) {
    value = (Math.imul(value, 31) + text.charCodeAt(index)) >>> 0
  }
  return value
}

/** A call that a person of the site tries out, which may take long. */
const isByHand = (call: PendingCall | undefined): boolean =>
  call?.purpose === 'compute' || call?.purpose === 'profile'
