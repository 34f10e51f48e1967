import type { Logger } from '#platform/log/logger.ts'
import type { FromWorker, GuestFailure } from '#sandbox/protocol.ts'

import { AnsweredCalls } from './answered-calls.ts'
import { BusyPoll } from './busy-poll.ts'
import { FrameDraft } from './frame-draft.ts'
import { LogBatcher } from './log-batcher.ts'
import { classifyLostCalls, describeLoss, type LostCalls, type WorkerExit } from './lost-calls.ts'
import { asPassing } from './passing-refusals.ts'
import { failedOutcome, type PendingCall } from './pending-call.ts'
import { PendingHostCalls } from './pending-host-calls.ts'
import { withdrawCalls } from './progress-file.ts'
import { RetiredPrograms } from './retired-programs.ts'
import { SandboxActivity } from './sandbox-activity.ts'
import type { Program, SandboxEnvironment } from './sandbox.ts'
import type { SiteQueue } from './site-queue.ts'
import { SiteQueues } from './site-queues.ts'
import type { WorkerConnection, WorkerRecord } from './worker-connection.ts'
import { STUCK_MS, Workers, type WorkersDeps } from './workers.ts'

/** Calls that may be inside one worker. */
const WORKER_CAPACITY = 512
const SWEEP_MS = 20
/** What a worker has not begun so long after it was sent goes elsewhere, if that is certain. */
const WITHDRAW_AFTER_MS = 20
/** Under load the event loop does not sleep anyway, and others want the processor. */
const FEW_CALLS = 4

export interface DispatcherDeps extends WorkersDeps {
  readonly environment: SandboxEnvironment
  readonly logger: Logger
}

/** Hands calls to workers: fairly between sites, one frame at a time, and answers them. */
export class Dispatcher {
  readonly activity = new SandboxActivity()
  readonly #logger: Logger
  readonly #queues = new SiteQueues()
  readonly #workers: Workers
  readonly #hostCalls: PendingHostCalls
  readonly #logs: LogBatcher
  readonly #attention = new BusyPoll()
  #pumpIsDue = false
  #retry: NodeJS.Timeout | undefined
  #sweep: NodeJS.Timeout | undefined
  readonly #answered = new AnsweredCalls()
  readonly #retired = new RetiredPrograms(this.#queues, () => this.workers)

  constructor(deps: DispatcherDeps) {
    const { environment } = deps
    this.#logger = deps.logger
    this.#workers = new Workers(deps)
    this.#logs = new LogBatcher((lines) => environment.log(lines))
    this.#hostCalls = new PendingHostCalls(environment, {
      answered: (worker) => this.#deliver(worker),
      waits: (call) => this.#queues.releasePermit(call),
      resumes: (call) => this.#queues.reacquirePermit(call),
    })
  }

  get running(): number {
    return this.#queues.running
  }

  get waiting(): number {
    return this.#queues.waiting
  }

  get workers(): ReadonlySet<WorkerConnection> {
    return this.#workers.all
  }

  submit(call: PendingCall): void {
    this.#queues.push(call)
    this.#sweep ??= setInterval(() => this.#sweepQueues(), SWEEP_MS).unref()
    this.#schedule()
  }

  onWorkerConnected(worker: WorkerConnection): void {
    this.#workers.add(worker)
    this.#schedule()
  }

  /** The worker is gone, and everything in it. */
  onWorkerLost(worker: WorkerConnection, exit: WorkerExit): void {
    if (!this.#workers.remove(worker)) return
    if (exit.cause !== 'dismissed') this.activity.losses.add(exit.cause)
    const lost = classifyLostCalls(worker, exit)
    const { offenders, interrupted, notStarted } = lost
    if (worker.activeCalls.size > 0) this.#logLoss(worker, exit, lost)
    const nowMs = performance.now()
    for (const { call, failure } of offenders) {
      this.#queues.quarantine(call, nowMs)
      this.#end(worker, call.id, { failure, cpuUs: exit.silentMs * 1000 })
    }
    const message = 'The sandbox host that ran the call went down: try again'
    for (const call of interrupted) {
      this.#end(worker, call.id, { failure: { kind: 'interrupted', message }, cpuUs: 0 })
    }
    for (const call of notStarted) worker.removeCall(call.id)
    this.#hostCalls.forgetWorker(worker)
    this.#putBack(notStarted)
  }

  #logLoss(worker: WorkerConnection, exit: WorkerExit, lost: LostCalls): void {
    const fields = { hostPid: worker.pid, role: worker.place.role, ...describeLoss(exit, lost) }
    this.#logger.warn(fields, 'sandbox host was lost with calls inside')
  }

  /** The client of a call that is inside a worker has gone. */
  abort(id: number): void {
    for (const worker of this.workers) {
      if (!worker.activeCalls.has(id)) continue
      worker.abort(id)
      this.#deliver(worker)
    }
  }

  /** Resolves when no call goes on after its answer. */
  workDone(): Promise<void> {
    return this.#answered.ended()
  }

  /** Drops a program everywhere, and again after calls of it that were still to come. */
  retire(program: Program): void {
    this.#retired.add(program)
    for (const worker of this.workers) {
      worker.forget(program.key)
      this.#deliver(worker)
    }
  }

  /** Answers whatever waits or runs; nothing may be submitted afterwards. */
  close(): void {
    clearTimeout(this.#retry)
    clearInterval(this.#sweep)
    const failure = { kind: 'interrupted', message: 'The service is shutting down' } as const
    for (const call of this.#queues.drain()) call.settle(failedOutcome(failure))
    for (const worker of this.workers) {
      this.#workers.remove(worker)
      for (const id of worker.activeCalls.keys()) this.#end(worker, id, { failure, cpuUs: 0 })
      this.#hostCalls.forgetWorker(worker)
    }
    this.#logs.flush()
  }

  readonly events = {
    acknowledged: (): void => this.#schedule(),
    withdrawn: (calls: readonly PendingCall[]): void => this.#putBack(calls),
    received: (worker: WorkerConnection): void => {
      this.#logs.flush()
      if (worker.hasOutgoing) this.#deliver(worker)
    },
    record: (worker: WorkerConnection, record: WorkerRecord): void => this.#apply(worker, record),
  }

  #apply(worker: WorkerConnection, record: WorkerRecord): void {
    switch (record.kind) {
      case 'result':
        this.#finish(worker, record)
        break
      case 'answered':
        this.#answered.add(worker.activeCalls.get(record.numbers[0]), record)
        break
      case 'failure': {
        const [id, cpuUs] = record.numbers
        const told = JSON.parse(record.texts[0]) as GuestFailure
        this.#end(worker, id, { failure: asPassing(told, worker.activeCalls.get(id)), cpuUs })
        break
      }
      case 'hostCall':
        this.#hostCalls.start(worker, record)
        break
      case 'cancel':
        this.#hostCalls.abort(worker, record.numbers[0])
        break
      case 'log':
        this.#logs.add(worker, record)
        break
      case 'warmIsolates':
        worker.warmIsolates = record.numbers[0]
        break
      case 'hello':
        break
    }
  }

  #finish(worker: WorkerConnection, record: Extract<FromWorker, { kind: 'result' }>): void {
    const [id, cpuUs] = record.numbers
    const call = this.#close(worker, id, { cpuUs, ok: true })
    call?.settle({ ok: true, result: record.texts[0], cpuUs })
  }

  #end(worker: WorkerConnection, id: number, end: { failure: GuestFailure; cpuUs: number }): void {
    const call = this.#close(worker, id, { cpuUs: end.cpuUs, ok: false })
    call?.settle(failedOutcome(end.failure, end.cpuUs))
  }

  #close(
    worker: WorkerConnection,
    id: number,
    end: { cpuUs: number; ok: boolean },
  ): PendingCall | undefined {
    const call = worker.removeCall(id)
    if (!call) return undefined
    this.#answered.delete(call)
    this.#queues.finished(call, { ...end, nowMs: performance.now() })
    this.activity.calls.add(worker.place.role, end.ok ? 'succeeded' : 'failed')
    if (call.purpose === 'compute' || call.purpose === 'load') worker.forget(call.program.key)
    for (const other of this.#retired.ended(worker, call)) this.#deliver(other)
    if (this.#queues.waiting > 0) this.#schedule()
    return call
  }

  /** To the front of their queues, in the order in which they were there. */
  #putBack(calls: readonly PendingCall[]): void {
    for (const call of calls.toReversed()) this.#queues.putBack(call)
    this.#schedule()
  }

  /** Calls that arrive in the same turn of the event loop share a frame: what a frame costs is mostly waking the worker. */
  #schedule(): void {
    if (this.#pumpIsDue) return
    this.#pumpIsDue = true
    setImmediate(() => {
      this.#pumpIsDue = false
      this.#pump()
    })
  }

  #pump(): void {
    const nowMs = performance.now()
    let sent = true
    while (sent) {
      sent = false
      for (const [worker, draft] of this.#draft(nowMs)) {
        worker.send(draft.calls, { nowMs, risky: draft.risky })
        if (this.#queues.running <= FEW_CALLS)
          this.#attention.until(() => worker.unacked.length === 0)
        sent = true
      }
    }
    for (const worker of this.workers) this.#sendAnswers(worker)
    if (this.#queues.waiting > 0) this.#retry ??= setTimeout(() => this.#again(), STUCK_MS)
  }

  /** Looks again whether a worker has got stuck, so that what waits for it can go elsewhere. */
  #again(): void {
    this.#retry = undefined
    this.#pump()
  }

  /**
   * Answers and the like do not wait for calls, but take turns with those that wait: answers that come all the time, as those
   * of a stream do, would otherwise take each place among the unacknowledged frames as it is given back.
   */
  #deliver(worker: WorkerConnection): void {
    if (this.#queues.waiting > 0 && worker.lastHadAnswers) this.#schedule()
    else this.#sendAnswers(worker)
  }

  #sendAnswers(worker: WorkerConnection): void {
    while (worker.hasOutgoing && worker.canSend) {
      worker.send([], { nowMs: performance.now(), risky: false })
      if (this.#queues.waiting > 0) return
    }
  }

  #draft(nowMs: number): Map<WorkerConnection, FrameDraft> {
    const drafts = new Map<WorkerConnection, FrameDraft>()
    if (this.#queues.waiting === 0) return drafts
    for (const site of this.#queues.inOrder(this.workers.size * WORKER_CAPACITY)) {
      const worker = this.#workers.for(site, nowMs)
      if (!worker?.acceptsCalls || !hasPermit(worker, site)) continue
      const draft = drafts.get(worker) ?? new FrameDraft()
      this.#fill(draft, site, nowMs)
      if (draft.calls.length > 0) drafts.set(worker, draft)
    }
    return drafts
  }

  #fill(draft: FrameDraft, site: SiteQueue, nowMs: number): void {
    for (let pending = site.next; pending; pending = site.next) {
      if (pending.call.signal?.aborted || pending.leaving?.aborted) {
        this.#queues.drop(site, pending)
        continue
      }
      const risky = this.#queues.isRisky(site, pending, nowMs)
      if (!draft.accepts(pending, { risky, costMs: site.history.costMs })) return
      this.#queues.take(site)
      this.activity.queueWait.observe(Math.max(0, nowMs - pending.queuedMs))
    }
  }

  #sweepQueues(): void {
    const nowMs = performance.now()
    this.#queues.sweep(nowMs)
    for (const worker of this.workers) {
      if (worker.silentMs(nowMs) > WITHDRAW_AFTER_MS) this.#putBack(withdrawCalls(worker))
    }
    if (this.#queues.waiting > 0 || this.#queues.running > 0) return
    this.#queues.forgetIdle()
    clearInterval(this.#sweep)
    this.#sweep = undefined
  }
}

/** What a call already inside waits for is bounded by its depth: it finds a place, or the other would never end. */
const hasPermit = (worker: WorkerConnection, site: SiteQueue): boolean =>
  worker.activeCalls.size < WORKER_CAPACITY || (site.next?.call.depth ?? 0) > 0
