import { BusyPoll } from './busy-poll.ts'
import type { PendingCall } from './pending-call.ts'
import type { SandboxActivity } from './sandbox-activity.ts'
import type { SiteQueue } from './site-queue.ts'
import type { SiteQueues } from './site-queues.ts'
import type { StreamPacer } from './stream-pacer.ts'
import type { WorkerConnection } from './worker-connection.ts'
import { STUCK_MS, type Workers } from './workers.ts'

/** Calls that may hold places of one worker. */
const WORKER_CAPACITY = 512

/** Calls that may be inside one worker, most of them suspended: each takes some memory beside that of its isolate. */
const MAX_INSIDE = 16 * 1024

/** Under load the event loop does not sleep anyway, and others want the processor. */
const FEW_CALLS = 4

/** What the calls of one frame may cost, as far as is known. */
const FRAME_MS = 4
const MAX_CALLS_PER_FRAME = 256
const MAX_CHARS_PER_FRAME = 4 * 1024 * 1024

/**
 * Sends what waits to the workers, one frame at a time: answers, which resume calls, before calls that begin, and the two in
 * turns while there are both. Neither can take each place among the unacknowledged frames as it is given back.
 */
export class FrameTurns {
  readonly #deps
  readonly #attention = new BusyPoll()
  #pumpIsDue = false
  #retry: NodeJS.Timeout | undefined

  constructor(deps: {
    readonly queues: SiteQueues
    readonly workers: Workers
    readonly activity: SandboxActivity
    readonly pacer: Pick<StreamPacer, 'otherCallBegan'>
  }) {
    this.#deps = deps
  }

  stop(): void {
    clearTimeout(this.#retry)
  }

  /** Calls that arrive in the same turn of the event loop share a frame: what a frame costs is mostly waking the worker. */
  schedule(): void {
    if (this.#pumpIsDue) return
    this.#pumpIsDue = true
    setImmediate(() => {
      this.#pumpIsDue = false
      this.#pump()
    })
  }

  /** Sends answers and the like at once, but in turns with calls that wait. */
  deliver(worker: WorkerConnection): void {
    if (this.#deps.queues.waiting > 0 && worker.lastHadAnswers) this.schedule()
    else this.#sendAnswers(worker)
  }

  #pump(): void {
    const { queues, workers } = this.#deps
    const nowMs = performance.now()
    for (const worker of workers.all) {
      if (!worker.lastHadAnswers) this.#sendAnswers(worker)
    }
    let sent = true
    while (sent) {
      sent = false
      for (const [worker, draft] of this.#draft(nowMs)) {
        worker.send(draft.calls, { nowMs, risky: draft.risky })
        if (queues.inside <= FEW_CALLS) this.#attention.until(() => worker.unacked.length === 0)
        sent = true
      }
    }
    for (const worker of workers.all) this.#sendAnswers(worker)
    if (queues.waiting > 0) this.#retry ??= setTimeout(() => this.#again(), STUCK_MS)
  }

  /** Looks again whether a worker has got stuck, so that what waits for it can go elsewhere. */
  #again(): void {
    this.#retry = undefined
    this.#pump()
  }

  #sendAnswers(worker: WorkerConnection): void {
    while (worker.hasOutgoing && worker.canSend) {
      worker.send([], { nowMs: performance.now(), risky: false })
      if (this.#deps.queues.waiting > 0) return
    }
  }

  #draft(nowMs: number): Map<WorkerConnection, FrameDraft> {
    const { queues, workers } = this.#deps
    const drafts = new Map<WorkerConnection, FrameDraft>()
    if (queues.waiting === 0) return drafts
    for (const site of queues.inOrder(workers.all.size * WORKER_CAPACITY)) {
      const worker = workers.for(site, nowMs)
      if (!worker?.acceptsCalls || !hasRoom(worker, site)) continue
      const draft = drafts.get(worker) ?? new FrameDraft()
      this.#fill(draft, site, nowMs)
      if (draft.calls.length > 0) drafts.set(worker, draft)
    }
    return drafts
  }

  #fill(draft: FrameDraft, site: SiteQueue, nowMs: number): void {
    const { queues, activity, pacer } = this.#deps
    for (let pending = site.next; pending; pending = site.next) {
      if (pending.call.signal?.aborted || pending.leaving?.aborted) {
        queues.drop(pending)
        continue
      }
      const risky = queues.isRisky(site, pending, nowMs)
      if (!draft.accepts(pending, { risky, costMs: site.history.costMs })) return
      queues.take(site)
      if (site.history.roleAt(nowMs) === 'ordinary') pacer.otherCallBegan(nowMs)
      activity.queueWait.observe(Math.max(0, nowMs - pending.queuedMs))
    }
  }
}

/** What a call already inside waits for is bounded by its depth: it finds a place, or the other would never end. */
const hasRoom = (worker: WorkerConnection, site: SiteQueue): boolean =>
  worker.activeCalls.size < MAX_INSIDE || (site.next?.call.depth ?? 0) > 0

/** The calls of one frame while it is being filled. */
class FrameDraft {
  readonly calls: PendingCall[] = []
  risky = false
  #costMs = 0
  #chars = 0

  /** Adds the call unless the frame is full for it; the first one always fits. */
  accepts(pending: PendingCall, { risky, costMs }: { risky: boolean; costMs: number }): boolean {
    const chars = pending.call.body.length
    if (this.calls.length > 0) {
      if (risky || this.risky || this.calls.length >= MAX_CALLS_PER_FRAME) return false
      if (this.#costMs + costMs > FRAME_MS || this.#chars + chars > MAX_CHARS_PER_FRAME)
        return false
    }
    this.calls.push(pending)
    this.risky = risky
    this.#costMs += costMs
    this.#chars += chars
    return true
  }
}
