import type { GuestFailure } from '#sandbox/protocol/protocol.ts'

import type { PendingCall } from './pending-call.ts'
import type { SiteQueues } from './site-queues.ts'
import type { WorkerConnection } from './worker-connection.ts'

const ENDED: GuestFailure = {
  kind: 'interrupted',
  message: 'Its client left, and what it had asked for did not come to an end',
}

/**
 * Ends the calls whose clients have gone. One that has begun goes on while it has a host call in flight, so that what it does is
 * not cut in the middle; how many do, and for how long, is bounded for each site.
 */
export class LeftCalls {
  readonly #deps
  /** Calls that have begun to wait for something since the last sweep. */
  readonly #suspended: PendingCall[] = []

  constructor(deps: {
    readonly queues: SiteQueues
    /** The worker that the call is inside of. */
    workerOf(call: PendingCall): WorkerConnection | undefined
    /** Something waits to be sent to the worker. */
    deliver(worker: WorkerConnection): void
    end(worker: WorkerConnection, call: PendingCall, failure: GuestFailure): void
    /** A call goes on without its client: `sweep` is wanted. */
    goesOn(): void
  }) {
    this.#deps = deps
  }

  /** Watches from the next sweep on. Most host calls are answered before, and a listener costs more than they do. */
  watchLater(call: PendingCall): void {
    this.#suspended.push(call)
  }

  /** Watches, for a call that has to wait for something, whether its client still waits for it. */
  watch(call: PendingCall): void {
    if (call.leaving) return
    const leaving = leavingOf(call)
    call.leaving = leaving
    if (leaving?.aborted) this.#leave(call)
    else leaving?.addEventListener('abort', () => this.#leave(call), { once: true })
  }

  /** Watches those that still wait, and ends those that have gone on for too long. */
  sweep(nowMs: number): void {
    for (const call of this.#suspended.splice(0)) {
      if (call.state === 'suspended') this.watch(call)
    }
    for (const call of this.#deps.queues.overdue(nowMs)) this.#end(call)
  }

  #leave(call: PendingCall): void {
    const { queues } = this.#deps
    if (call.state === 'queued') queues.drop(call)
    if (call.state === 'ended' || call.isAnswered) return
    const evicted = queues.leave(call, performance.now())
    this.#tell('abort', call)
    if (evicted) this.#end(evicted)
    this.#deps.goesOn()
  }

  #end(call: PendingCall): void {
    const worker = this.#tell('end', call)
    if (worker) this.#deps.end(worker, call, ENDED)
  }

  #tell(kind: 'abort' | 'end', call: PendingCall): WorkerConnection | undefined {
    const worker = this.#deps.workerOf(call)
    worker?.tell(kind, call.id)
    if (worker) this.#deps.deliver(worker)
    return worker
  }
}

/** Jobs and the like have no client that can leave: they go on once they have begun. */
const leavingOf = ({ call }: PendingCall): AbortSignal | undefined =>
  call.exchange?.left ?? call.visitorSignal?.() ?? (call.depth > 0 ? call.signal : undefined)
