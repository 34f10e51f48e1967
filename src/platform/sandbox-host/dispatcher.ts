import type { Logger } from '#platform/log/logger.ts'
import { type FromWorker, type GuestFailure, LEVELS } from '#sandbox/protocol/protocol.ts'

import type { Call } from './call.ts'
import { FrameTurns } from './frame-turns.ts'
import { LeftCalls } from './left-calls.ts'
import { classifyLostCalls, describeLoss, type LostCalls, type WorkerExit } from './lost-calls.ts'
import { asPassing } from './passing-refusals.ts'
import { failedOutcome, type PendingCall } from './pending-call.ts'
import { PendingHostCalls } from './pending-host-calls.ts'
import { withdrawCalls } from './progress-file.ts'
import { SandboxActivity } from './sandbox-activity.ts'
import type { Program, SandboxEnvironment, SiteCalls, CallOutcome, LogLine } from './sandbox.ts'
import { SiteQueues } from './site-queues.ts'
import { partCostMs, StreamPacer } from './stream-pacer.ts'
import type { SentFrame, WorkerConnection, WorkerRecord } from './worker-connection.ts'
import { Workers, type WorkersDeps } from './workers.ts'

const SWEEP_MS = 20

/** What a worker has not begun so long after it was sent goes elsewhere, if that is certain. */
const WITHDRAW_AFTER_MS = 20

type RecordOf<Kind extends FromWorker['kind']> = Extract<FromWorker, { kind: Kind }>

/** Hands calls to workers: fairly between sites, one frame at a time, and answers them. */
export class Dispatcher {
  readonly activity = new SandboxActivity()
  readonly #logger: Logger
  readonly #queues = new SiteQueues()
  readonly #workers: Workers
  readonly #turns: FrameTurns
  readonly #hostCalls: PendingHostCalls
  readonly #pacer = new StreamPacer()
  readonly #logs: LogBatcher
  readonly #left: LeftCalls
  #sweep: NodeJS.Timeout | undefined
  readonly #answered = new AnsweredCalls()
  readonly #retired = new RetiredPrograms(this.#queues, () => this.workers)

  constructor(
    deps: WorkersDeps & {
      readonly environment: SandboxEnvironment
      readonly logger: Logger
    },
  ) {
    const { environment } = deps
    this.#logger = deps.logger
    const workers = new Workers(deps)
    this.#workers = workers
    this.#turns = new FrameTurns({
      queues: this.#queues,
      workers,
      activity: this.activity,
      pacer: this.#pacer,
    })
    this.#logs = new LogBatcher((lines) => environment.log(lines))
    this.#left = new LeftCalls({
      queues: this.#queues,
      workerOf: ({ id }) => [...this.workers].find(({ activeCalls }) => activeCalls.has(id)),
      deliver: (worker) => this.#turns.deliver(worker),
      end: (worker, { id }, failure) => this.#end(worker, id, { failure, cpuUs: 0 }),
      goesOn: () => this.#startSweeping(),
    })
    this.#hostCalls = new PendingHostCalls(environment, this.#pacer, {
      answered: (worker) => this.#turns.deliver(worker),
      waits: (call) => this.#queues.releasePermit(call),
      resumes: (call) => this.#queues.reacquirePermit(call),
    })
  }

  get running(): number {
    return this.#queues.running
  }

  get suspended(): number {
    return this.#queues.suspended
  }

  get waiting(): number {
    return this.#queues.waiting
  }

  callsOf(siteId: string): SiteCalls {
    return this.#queues.callsOf(siteId)
  }

  get workers(): ReadonlySet<WorkerConnection> {
    return this.#workers.all
  }

  submit(call: PendingCall): void {
    if (this.#queues.push(call)) this.#left.watch(call)
    this.#startSweeping()
    this.#turns.schedule()
  }

  onWorkerConnected(worker: WorkerConnection): void {
    this.#workers.add(worker)
    this.#turns.schedule()
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
    this.#queues.forgetWorker(worker)
    this.#putBack(notStarted)
  }

  #logLoss(worker: WorkerConnection, exit: WorkerExit, lost: LostCalls): void {
    const fields = { hostPid: worker.pid, role: worker.place.role, ...describeLoss(exit, lost) }
    this.#logger.warn(fields, 'sandbox host was lost with calls inside')
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
      this.#turns.deliver(worker)
    }
  }

  /** Answers whatever waits or runs; nothing may be submitted afterwards. */
  close(): void {
    this.#turns.stop()
    this.#pacer.stop()
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
    acknowledged: (worker: WorkerConnection, frames: readonly SentFrame[]): void => {
      if (worker.activeCalls.size > 0) this.#suspend(worker, frames)
      this.#turns.schedule()
    },
    withdrawn: (calls: readonly PendingCall[]): void => this.#putBack(calls),
    received: (worker: WorkerConnection): void => {
      this.#logs.flush()
      if (worker.hasOutgoing) this.#turns.deliver(worker)
    },
    record: (worker: WorkerConnection, record: WorkerRecord): void => this.#apply(worker, record),
  }

  /** What was begun and has not ended waits for something. */
  #suspend(worker: WorkerConnection, frames: readonly SentFrame[]): void {
    for (const { sections } of frames) {
      for (const { calls } of sections) {
        for (const call of calls) {
          if (!worker.activeCalls.has(call.id)) continue
          this.#queues.suspend(call)
          this.#noteStream(call)
          this.#left.watchLater(call)
        }
      }
    }
  }

  #apply(worker: WorkerConnection, record: WorkerRecord): void {
    switch (record.kind) {
      case 'result':
        this.#finish(worker, record)
        break
      case 'answered':
        this.#answered.add(worker.activeCalls.get(record.numbers[0]), record)
        break
      case 'failure':
        this.#fail(worker, record)
        break
      case 'hostCall':
        this.#hostCalls.start(worker, record)
        this.#transferred(worker, record)
        break
      case 'used':
        this.#queues.used(worker.activeCalls.get(record.numbers[0]), record.numbers[1])
        break
      case 'cancel':
        this.#hostCalls.abort(worker, record.numbers[0])
        break
      case 'log':
        this.#logs.add(worker, record)
        break
      case 'crowded':
        this.#queues.setCrowded(record.texts[0], worker, record.numbers[0] === 1)
        break
      case 'warmIsolates':
        worker.warmIsolates = record.numbers[0]
    }
  }

  /** A part of a request or a response: what it costs here is the site's, too. */
  #transferred(worker: WorkerConnection, { numbers, texts }: RecordOf<'hostCall'>): void {
    const call = texts[0] === 'http' && worker.activeCalls.get(numbers[1])
    if (!call) return
    this.#queues.transferred(call, partCostMs(texts[1].length))
    this.#noteStream(call)
  }

  #noteStream(call: PendingCall): void {
    if (call.call.exchange?.isStream) this.#queues.setApart(call)
  }

  #fail(worker: WorkerConnection, { numbers: [id, cpuUs], texts }: RecordOf<'failure'>): void {
    const told = JSON.parse(texts[0]) as GuestFailure
    this.#end(worker, id, { failure: asPassing(told, worker.activeCalls.get(id)), cpuUs })
  }

  #finish(worker: WorkerConnection, record: RecordOf<'result'>): void {
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
    for (const other of this.#retired.ended(worker, call)) this.#turns.deliver(other)
    if (this.#queues.waiting > 0) this.#turns.schedule()
    return call
  }

  /** To the front of their queues, in the order in which they were there. */
  #putBack(calls: readonly PendingCall[]): void {
    for (const call of calls.toReversed()) this.#queues.putBack(call)
    this.#turns.schedule()
  }

  #startSweeping(): void {
    this.#sweep ??= setInterval(() => this.#sweepQueues(), SWEEP_MS).unref()
  }

  #sweepQueues(): void {
    const nowMs = performance.now()
    this.#queues.sweep(nowMs)
    this.#left.sweep(nowMs)
    for (const worker of this.workers) {
      if (worker.silentMs(nowMs) > WITHDRAW_AFTER_MS) this.#putBack(withdrawCalls(worker))
    }
    const { waiting, running, left } = this.#queues
    if (waiting > 0 || running > 0 || left > 0) return
    this.#queues.forgetIdle()
    clearInterval(this.#sweep)
    this.#sweep = undefined
  }
}

/** Calls that have given their result and go on inside their workers. */
class AnsweredCalls {
  readonly #calls = new Set<PendingCall>()
  readonly #waiting: (() => void)[] = []

  /** Gives a call's result to its caller; the value of a later `settle` ends the rest. */
  add(
    call: PendingCall | undefined,
    { numbers: [, cpuUs], texts: [result] }: Extract<FromWorker, { kind: 'answered' }>,
  ): void {
    if (!call || call.isAnswered) return
    const { promise: rest, resolve } = Promise.withResolvers<CallOutcome>()
    call.settle({ ok: true, result, cpuUs, rest })
    call.settle = resolve
    call.isAnswered = true
    this.#calls.add(call)
  }

  /** The call has come to its end. */
  delete(call: PendingCall): void {
    if (!this.#calls.delete(call) || this.#calls.size > 0) return
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  /** Resolves when none is left. */
  ended(): Promise<void> {
    if (this.#calls.size === 0) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.push(resolve))
  }
}

/**
 * Programs that a newer revision has taken the place of. A call that was admitted before and is sent to a worker afterwards
 * makes a new isolate of the old program there, which nothing else would drop.
 */
class RetiredPrograms {
  /** By object: the same key may come back with another one. */
  readonly #programs = new WeakSet<Program>()
  readonly #queues: Pick<SiteQueues, 'isFollowed'>
  readonly #workers: () => ReadonlySet<WorkerConnection>

  constructor(
    queues: Pick<SiteQueues, 'isFollowed'>,
    workers: () => ReadonlySet<WorkerConnection>,
  ) {
    this.#queues = queues
    this.#workers = workers
  }

  add(program: Program): void {
    this.#programs.add(program)
  }

  /** After a call's last word: drops its program wherever nothing of it runs, unless more of it waits. Gives the other workers. */
  ended(worker: WorkerConnection, call: PendingCall): WorkerConnection[] {
    const { program } = call
    if (!this.#programs.has(program) || this.#queues.isFollowed(call)) return []
    const done = [...this.#workers()].filter((each) => !isRunning(each, program))
    for (const each of done) each.forget(program.key)
    return done.filter((each) => each !== worker)
  }
}

function isRunning({ activeCalls }: WorkerConnection, program: Program): boolean {
  for (const call of activeCalls.values()) if (call.program === program) return true
  return false
}

/** Collects the lines of one frame. Lines of ad-hoc code go to the one who runs it. */
class LogBatcher {
  readonly #write: (lines: readonly LogLine[]) => void
  #lines: LogLine[] = []

  constructor(write: (lines: readonly LogLine[]) => void) {
    this.#write = write
  }

  add(worker: WorkerConnection, record: Extract<FromWorker, { kind: 'log' }>): void {
    const [slot, callId] = record.numbers
    const pending = worker.activeCalls.get(callId) ?? soleCall(worker, slot)
    // A program that is retired is only known by the calls that finish in it.
    const program = pending?.program ?? worker.programOf(slot)
    if (!program) return
    const line = { ...lineOf(record, pending?.call), siteId: program.siteId }
    if (pending?.logs) pending.logs.push(line)
    else this.#lines.push(line)
  }

  flush(): void {
    if (this.#lines.length === 0) return
    const lines = this.#lines
    this.#lines = []
    this.#write(lines)
  }
}

const lineOf = (
  { numbers: [, , level, atMs], texts: [message] }: Extract<FromWorker, { kind: 'log' }>,
  call: Call | undefined,
): Omit<LogLine, 'siteId'> => ({
  at: new Date(atMs),
  level: LEVELS[level] ?? 'error',
  operation: call?.operation ?? null,
  requestId: call?.requestId ?? null,
  message,
})

/** A call whose lines are wanted with its outcome has its context to itself: whatever is printed there is its own. */
function soleCall(worker: WorkerConnection, slot: number): PendingCall | undefined {
  const [call] = worker.activeCallsIn(slot)
  return call?.logs ? call : undefined
}
