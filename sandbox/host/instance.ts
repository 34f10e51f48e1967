import type { LongResult } from '#sandbox/crypto/crypto-thread.ts'
import type { ProgressMarker } from '#sandbox/protocol/progress-marker.ts'
import type { GuestFailure, ToGuest } from '#sandbox/protocol/protocol.ts'

import { type ContextServices, GuestContext } from './context.ts'
import {
  type EntryResult,
  limitFailure,
  type LoadOutcome,
  loadOutcomeOf,
  strayFault,
} from './entry-result.ts'
import { GuestReport } from './guest-report.ts'
import type { GuestIsolate } from './isolate.ts'
import { type CallRecord, CLIENT_LEFT, OpenCalls, type OpenCallsDeps } from './open-calls.ts'
import { callIdsIn, callsIn, idOf, type Work, workFor } from './sections.ts'
import { MAX_STARVED_TRIES, splitStarved } from './starved-entry.ts'
import { steadyNowMs } from './steady-clock.ts'

const NEVER_SETTLES = 'A top-level await never settles: nothing is left that could settle it'

/** Calls are begun one at a time until the function has shown that it behaves. */
const PROVEN_AFTER = 8
const MAX_CALLS_PER_ENTRY = 64

/** What the service said to a host call. */
export interface HostAnswer {
  readonly hostCall: number
  readonly ok: number
  readonly text: string
}

/** A function loaded into an isolate. */
export class Instance {
  readonly home: GuestIsolate
  readonly slot: number
  readonly calls: OpenCalls
  readonly #deps
  readonly #context: GuestContext
  readonly #report: GuestReport
  #state: 'cold' | 'waiting' | 'ready' | 'over' = 'cold'
  #waiting: CallRecord[] = []
  readonly #size = new EntrySize()

  constructor(
    home: GuestIsolate,
    deps: Omit<OpenCallsDeps, 'home'> &
      ContextServices & {
        readonly progress: Pick<ProgressMarker, 'heartbeat' | 'loadBegins' | 'loadEnds'>
        readonly slot: number
        /** The isolate had to be given up; `left` is what was not begun in it, or is to be begun again: with so many `tries`. */
        stopped(instance: Instance, left: readonly CallRecord[], tries?: number): void
      },
  ) {
    const { slot, definition, outbox } = deps
    this.home = home
    this.slot = slot
    this.#deps = deps
    this.calls = new OpenCalls({ ...deps, home })
    this.#report = new GuestReport({ slot, definition, outbox, calls: this.calls })
    this.#context = new GuestContext(home, definition, deps)
  }

  /** Whether a new call may be begun here. */
  get acceptsCalls(): boolean {
    return this.#state !== 'over' && !this.home.disposed && !this.home.retired
  }

  get over(): boolean {
    return this.#state === 'over'
  }

  /** When it next wants to `wake`; 0 for never: nothing runs between calls. */
  get wakeMs(): number {
    const deadlineMs = this.calls.oldest()?.deadlineMs ?? 0
    const { dueMs } = this.#report
    return dueMs > 0 && deadlineMs > 0 ? Math.min(dueMs, deadlineMs) : deadlineMs
  }

  /** Begins a section of `call` records. */
  start(section: string): void {
    const calls = callIdsIn(section)
    this.#answerRefused()
    if (!this.acceptsCalls) {
      this.#deps.stopped(this, callsIn(section))
      return
    }
    this.calls.add(calls, steadyNowMs())
    this.#report.renew()
    if (this.#state === 'cold' && !this.#load()) this.#starve(callsIn(section), [])
    else if (this.#state === 'waiting') this.#waiting.push(...callsIn(section))
    else if (this.#state === 'ready') this.#begin({ count: calls.length, calls, section })
  }

  /** Hands the answers of host calls to the guest. */
  answer(answers: readonly HostAnswer[]): void {
    const records: ToGuest[] = []
    const calls: number[] = []
    for (const { hostCall, ok, text } of answers) {
      const open = this.calls.endHostCall(hostCall)
      if (!open) continue
      records.push({ kind: 'answer', numbers: [open.guestId, ok], texts: [text] })
      calls.push(open.call)
    }
    if (records.length > 0) this.#run(workFor(records, calls))
  }

  /** Hands what was worked out for a call beside its isolate to the guest. The time is the call's, as if it had computed. */
  answerLong(hostCall: number, { text, cpuMs }: LongResult, owedMs: number): void {
    const open = this.calls.endHostCall(hostCall)
    if (!open) return
    const { payer, guestId } = open
    const records: ToGuest[] = [{ kind: 'answer', numbers: [guestId, 1], texts: [text] }]
    const { cpuMs: limit } = this.#deps.definition.limits
    this.calls.charge([payer], cpuMs + owedMs)
    if (cpuMs > limit) {
      this.calls.fail(payer, { kind: 'limit', what: 'cpuMs', limit, used: Math.round(cpuMs) })
      records.unshift({ kind: 'cancel', numbers: [payer], texts: [] })
    }
    this.#run(workFor(records, [0, open.call].slice(-records.length)))
  }

  /** Tells calls that are open here that their clients have gone. Those that have not begun are over. */
  abort(calls: readonly number[]): void {
    if (this.#state === 'ready') this.#tell('abort', calls)
    else for (const call of calls) this.calls.fail(call, CLIENT_LEFT)
  }

  /** Ends calls that are open here, whatever they do. */
  endCalls(calls: readonly number[]): void {
    for (const call of calls) this.calls.fail(call, CLIENT_LEFT)
    if (this.#state === 'ready') this.#tell('cancel', calls)
  }

  #tell(kind: 'abort' | 'cancel', calls: readonly number[]): void {
    const records: ToGuest[] = calls.map((call) => ({ kind, numbers: [call], texts: [] }))
    this.#run(workFor(records, calls))
  }

  /** Ends the calls that are past their deadline and fires the guest's timers. */
  wake(nowMs: number): void {
    const records: ToGuest[] = []
    const limit = this.#deps.definition.timeoutMs
    const isLoaded = this.#state === 'ready' || this.#state === 'waiting'
    for (let call = this.calls.oldest(); call; call = this.calls.oldest()) {
      if (call.deadlineMs > nowMs || this.calls.extend(call, nowMs)) break
      const used = Math.round(nowMs - call.startedMs)
      const activity = isLoaded ? this.#context.waits(call.id) : {}
      this.calls.fail(call.id, { kind: 'limit', what: 'timeoutMs', limit, used, ...activity })
      records.push({ kind: 'cancel', numbers: [call.id], texts: [] })
    }
    if (this.#state === 'cold' || this.#state === 'over') return
    this.#run(workFor(records, []))
    this.#fireRest(nowMs)
  }

  /** Each further timer that was due gets an entry of its own, until a slice of time is used up: the rest is due again. */
  #fireRest(nowMs: number): void {
    const endMs = steadyNowMs() + this.#deps.definition.limits.cpuMs / 4
    const isDue = (): boolean => this.#report.dueMs > 0 && this.#report.dueMs <= nowMs
    while (!this.over && !this.home.disposed && isDue() && steadyNowMs() < endMs) {
      this.#deps.progress.heartbeat()
      this.#run(workFor([], []))
    }
  }

  /** Answers every open call the same way and takes no more. */
  end(failure: GuestFailure): void {
    for (const id of this.calls.ids()) this.calls.fail(id, failure)
    this.#state = 'over'
  }

  release(): void {
    this.#state = 'over'
    this.#context.release()
  }

  #answerRefused(): void {
    const records = this.calls.takeRefusals()
    if (records.length > 0) this.#run(workFor(records, []))
  }

  /** False when it got too little of a processor. */
  #load(): boolean {
    this.#deps.progress.loadBegins()
    const { loading, entry } = this.#context.load()
    this.#deps.progress.loadEnds()
    this.calls.charge(this.calls.ids(), this.#deps.cpu.spentMs(entry.elapsedMs))
    if (entry.stopped === 'starved') return false
    this.#report.read(entry)
    this.#loaded(loading, entry)
    this.#endIfStuck()
    this.#tidy()
    return true
  }

  /** A module that awaits what neither a timer nor the service will bring. */
  #endIfStuck(): void {
    if (this.#state !== 'waiting' || this.#report.dueMs > 0 || this.calls.awaitsHost) return
    const { entry: path } = this.#deps.definition
    this.end({ kind: 'invalidCode', fault: { message: NEVER_SETTLES, path } })
  }

  /** Where only loading was asked for, that is all. */
  #begin(work: Work): void {
    if (this.#deps.definition.purpose !== 'load') this.#run(work)
    else for (const id of work.calls) this.calls.finish(id, 'null')
  }

  #loaded(loading: LoadOutcome, entry: EntryResult): void {
    switch (loading.state) {
      case 'ready':
      case 'waiting':
        this.#state = loading.state
        break
      case 'failed':
        this.end({ kind: 'invalidCode', fault: loading.fault })
        break
      case 'stopped':
        this.#stop(entry, { suspects: this.calls.ids(), left: [] }, 'load')
    }
  }

  #run(work: Work): void {
    let { section } = work
    let at = 0
    for (;;) {
      const size = this.#size.next(this.#deps.definition.limits.cpuMs)
      const entry = this.#context.enter(section, size)
      // A disposed isolate does not say how far it came.
      const reached = entry.stopped && entry.records.length === 0 ? at + size : entry.begun
      const end = Math.min(work.count, Math.max(at, reached))
      const calls = work.calls.slice(at, end)
      if (entry.stopped === 'starved') {
        this.calls.charge(calls, this.#deps.cpu.spentMs(entry.elapsedMs))
        const { again, records } = splitStarved(entry, callsIn(work.section, at, end))
        this.#report.read({ ...entry, records })
        this.#starve(again, callsIn(work.section, end))
        return
      }
      this.#account(entry, calls)
      if (entry.stopped) {
        this.#stop(entry, { suspects: calls, left: callsIn(work.section, end) })
        return
      }
      if (end >= work.count || end === at) break
      this.#deps.progress.heartbeat()
      at = end
      section = ''
    }
    this.#tidy()
  }

  #tidy(): void {
    const heap = this.home.heapAfterEntry()
    if (heap === 'full') this.home.retired = this.home.isFull = true
    else if (heap === 'untidy') this.#context.collect()
  }

  #account(entry: EntryResult, calls: readonly number[]): void {
    if (calls.length > 0) {
      const cpuMs = this.#deps.cpu.spentMs(entry.elapsedMs)
      this.#size.note(calls.length, cpuMs)
      this.calls.charge(calls, cpuMs)
    } else this.calls.chargeOldest(this.#deps.cpu.spentMs(entry.elapsedMs))
    const waiting = this.#state === 'waiting'
    this.#report.read(waiting ? { ...entry, uncaught: undefined } : entry)
    this.calls.tellUsed(calls)
    if (!waiting) return
    const { definition } = this.#deps
    const loading = loadOutcomeOf(entry.records, definition) ?? strayFault(entry, definition)
    if (loading) this.#loaded(loading, entry)
    if (loading) this.#beginWaiting()
    else this.#endIfStuck()
  }

  /** After a top-level `await` has come to its end. */
  #beginWaiting(): void {
    const records = this.#waiting.filter((record) => this.calls.get(idOf(record)))
    this.#waiting = []
    if (records.length === 0 || this.#state !== 'ready') return
    this.#begin(workFor(records, records.map(idOf)))
  }

  /** The isolate ended without a fault of its code: these calls are begun again, alone, and what else is open in it is interrupted. */
  #starve(again: readonly CallRecord[], left: readonly CallRecord[]): void {
    const records = [...(this.#deps.tries < MAX_STARVED_TRIES ? again : []), ...left]
    this.calls.drop(records)
    this.#deps.stopped(this, records, this.#deps.tries + 1)
  }

  /** Stops an isolate that has hit a limit: reports the limit to the call that hit it, and `interrupted` to the others. */
  #stop(
    entry: EntryResult,
    stop: { suspects: readonly number[]; left: readonly CallRecord[] },
    stretch: 'load' | 'call' = 'call',
  ): void {
    const failure = limitFailure(entry, this.#deps.definition, stretch)
    this.calls.drop(stop.left)
    const known = this.calls.get(entry.current) ? [entry.current] : stop.suspects
    const suspects = known.some((id) => this.calls.get(id)) ? known : this.calls.ids()
    for (const id of suspects) this.calls.fail(id, failure)
    this.#deps.stopped(this, stop.left)
  }
}

/** How many calls of a function are begun in one entry: as many as need a quarter of what one may compute. */
class EntrySize {
  #begun = 0
  #callMs = 0

  note(calls: number, cpuMs: number): void {
    this.#begun += calls
    this.#callMs += (cpuMs / calls - this.#callMs) / 16
  }

  next(limitMs: number): number {
    if (this.#begun < PROVEN_AFTER) return 1
    const room = limitMs / 4 / Math.max(this.#callMs, 0.01)
    return Math.min(MAX_CALLS_PER_ENTRY, Math.max(1, Math.floor(room)))
  }
}
