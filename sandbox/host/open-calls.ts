import type { LongQuestion } from '#sandbox/crypto/long-crypto.ts'
import {
  type GuestFailure,
  type HostFailure,
  type LocalCallName,
  MAX_ARGUMENT_LENGTH,
  type SlotDefinition,
  type ToGuest,
} from '#sandbox/protocol/protocol.ts'

import type { CallProfiler } from './call-profiler.ts'
import type { CpuClock } from './cpu-clock.ts'
import type { GuestIsolate } from './isolate.ts'
import { bytesOver, type WorkerOutput } from './worker-output.ts'

const ORPHANED = refused(
  'CallOver',
  'The call that asked for this is over: ask in the call that needs it',
)
const TOO_LONG = refused(
  'PayloadTooLarge',
  `What is asked of the host may be ${MAX_ARGUMENT_LENGTH} characters long`,
)
/** Processor time of a call from which on it is reported while the call goes on. */
const TOLD_FROM_US = 500
const NONE: readonly number[] = []
const PROFILE_LOST = 'The isolate ended before its profile was read: try again'
/** How a call ends whose client has gone. */
export const CLIENT_LEFT: GuestFailure = {
  kind: 'interrupted',
  message: 'Its client left before it had answered',
}
/** What any code of a site may ask at any time; everything else is done with the rights of one call. */
const ASKED_BY_ANY: readonly string[] = ['crypto', 'fetch']

/** What is not asked of the service: keys and secrets stay in the sandbox. */
const LOCAL: LocalCallName = 'crypto'

export type CallRecord = Extract<ToGuest, { kind: 'call' }>
export type AnswerRecord = Extract<ToGuest, { kind: 'answer' }>

/** A call inside an isolate whose outcome is open. */
export interface OpenCall {
  readonly id: number
  readonly startedMs: number
  deadlineMs: number
  /** Time without a processor before it began. */
  readonly lostMs: number
  cpuUs: number
  /** The part of it that was reported. */
  toldUs: number
  /** Lines it has printed. */
  lines: number
  /** Whether its result was sent already. */
  isAnswered: boolean
  /** What it has asked the service and has not been answered. */
  hostCalls: Set<number> | undefined
}

/** Numbers that tell the host calls of all isolates of a worker apart. */
interface HostCallNumbers {
  next(): number
  free(hostCall: number): void
}

/** Cryptography that takes long, done in this process. */
interface LongWork {
  ask(question: LongQuestion): void
  cancel(hostCall: number): void
}

export interface OpenCallsDeps {
  readonly cpu: CpuClock
  readonly home: GuestIsolate
  readonly longCrypto: LongWork
  readonly definition: SlotDefinition
  readonly outbox: WorkerOutput
  readonly numbers: HostCallNumbers
  /** Only of calls that are profiled. */
  readonly profiler?: CallProfiler | undefined
}

interface OpenHostCall {
  readonly guestId: number
  /** 0 where it cannot be given to one call. */
  readonly call: number
  /** The call on which it is counted. */
  readonly payer: number
  /** Whether this process answers it, and not the service. */
  readonly local: boolean
}

/** The calls that are open in one instance and what they have asked the service, the oldest first. */
export class OpenCalls {
  readonly #calls = new Map<number, OpenCall>()
  readonly #hostCalls = new Map<number, OpenHostCall>()
  /** Those that cannot be given to one call. */
  readonly #unattributed = new Set<number>()
  #refusals: AnswerRecord[] = []
  readonly #deps: OpenCallsDeps

  constructor(deps: OpenCallsDeps) {
    this.#deps = deps
  }

  get size(): number {
    return this.#calls.size
  }

  get(id: number): OpenCall | undefined {
    return this.#calls.get(id)
  }

  ids(): number[] {
    return [...this.#calls.keys()]
  }

  oldest(): OpenCall | undefined {
    for (const call of this.#calls.values()) return call
    return undefined
  }

  add(ids: readonly number[], nowMs: number): void {
    const deadlineMs = nowMs + this.#deps.definition.timeoutMs
    for (const id of ids) {
      this.#calls.set(id, {
        id,
        startedMs: nowMs,
        deadlineMs,
        lostMs: this.#deps.cpu.lostMs,
        cpuUs: 0,
        toldUs: 0,
        lines: 0,
        isAnswered: false,
        hostCalls: undefined,
      })
      this.#deps.home.activeCalls += 1
    }
  }

  /** Gives code that is only loaded the time back in which it had no processor; true when it has some left then. */
  extend(call: OpenCall, nowMs: number): boolean {
    const { definition, cpu } = this.#deps
    if (definition.purpose !== 'load') return false
    call.deadlineMs = call.startedMs + definition.timeoutMs + cpu.lostMs - call.lostMs
    return call.deadlineMs > nowMs
  }

  /** Answers a call with what it returned. An id that is not open is ignored: the guest made it up, or it is over. */
  finish(id: number, result: string): void {
    const call = this.#calls.get(id)
    if (!call || !this.#isWithinLimit(id, result)) return
    const { outbox, profiler } = this.#deps
    if (profiler) void this.#finishProfiled(call, result, profiler)
    else outbox.result(id, call.cpuUs, result)
    this.#close(call)
  }

  /** The same, but it stays open for what it still does, within its time. */
  answer(id: number, result: string): void {
    // A profile ends with the answer.
    if (this.#deps.profiler) return this.finish(id, result)
    const call = this.#calls.get(id)
    if (!call || call.isAnswered || !this.#isWithinLimit(id, result)) return
    call.isAnswered = true
    this.#deps.outbox.answered(id, call.cpuUs, result)
  }

  /** Fails the call when its result is too long. */
  #isWithinLimit(id: number, result: string): boolean {
    const limit = this.#deps.definition.limits.resultBytes
    const used = bytesOver(result, limit)
    if (used === undefined) return true
    this.fail(id, { kind: 'limit', what: 'resultBytes', limit, used })
    return false
  }

  async #finishProfiled(
    { id, cpuUs }: OpenCall,
    result: string,
    profiler: CallProfiler,
  ): Promise<void> {
    const { outbox, definition } = this.#deps
    const { resultBytes: limit } = definition.limits
    try {
      const text = await profiler.beside(result)
      if (text !== undefined) outbox.result(id, cpuUs, text)
      else outbox.failure(id, cpuUs, { kind: 'limit', what: 'resultBytes', limit, used: limit + 1 })
    } catch {
      // The isolate has ended.
      outbox.failure(id, cpuUs, { kind: 'interrupted', message: PROFILE_LOST })
    }
    outbox.flush()
  }

  fail(id: number, failure: GuestFailure): void {
    const call = this.#calls.get(id)
    if (!call) return
    this.#deps.outbox.failure(id, call.cpuUs, failure)
    this.#close(call)
  }

  /** Takes calls out without an answer, to be begun elsewhere. */
  drop(records: readonly CallRecord[]): void {
    for (const record of records) {
      if (this.#calls.delete(record.numbers[0])) this.#deps.home.activeCalls -= 1
    }
  }

  charge(ids: readonly number[], elapsedMs: number): void {
    for (const id of ids) {
      const call = this.#calls.get(id)
      if (call) call.cpuUs += (elapsedMs * 1000) / ids.length
    }
  }

  /** Which call a timer belongs to is not known: the oldest that is open pays. */
  chargeOldest(elapsedMs: number): void {
    const call = this.oldest()
    if (!call) return
    call.cpuUs += elapsedMs * 1000
    this.tellUsed([call.id])
  }

  /** Tells what those of the calls that go on have taken, once it is worth telling. */
  tellUsed(ids: readonly number[]): void {
    for (const id of ids) {
      const call = this.#calls.get(id)
      if (!call || call.cpuUs - call.toldUs < TOLD_FROM_US) continue
      call.toldUs = call.cpuUs
      this.#deps.outbox.used(id, call.cpuUs)
    }
  }

  /** Puts a question of site code to the service. */
  startHostCall(guestId: number, callId: number, question: readonly [string, string]): void {
    const [name, argument] = question
    const call =
      this.#calls.get(callId) ?? (ASKED_BY_ANY.includes(name) ? this.oldest() : undefined)
    if (!call || argument.length > MAX_ARGUMENT_LENGTH) {
      this.#refusals.push({
        kind: 'answer',
        numbers: [guestId, 0],
        texts: [call ? TOO_LONG : ORPHANED],
      })
      return
    }
    const hostCall = this.#deps.numbers.next()
    const local = name === LOCAL
    const asking = this.#calls.has(callId) ? callId : 0
    this.#hostCalls.set(hostCall, { guestId, call: asking, payer: call.id, local })
    if (asking === 0) this.#unattributed.add(hostCall)
    else (call.hostCalls ??= new Set()).add(hostCall)
    const { siteId } = this.#deps.definition
    if (local) this.#deps.longCrypto.ask({ hostCall, siteId, request: argument })
    else this.#deps.outbox.hostCall(hostCall, call.id, question)
  }

  /** Whether something that was asked of the service is still to be answered. */
  get awaitsHost(): boolean {
    return this.#hostCalls.size > 0 || this.#refusals.length > 0
  }

  /** The host call's number in the guest and the call that asked, and forgets it. */
  endHostCall(hostCall: number): OpenHostCall | undefined {
    const open = this.#hostCalls.get(hostCall)
    if (!open) return undefined
    this.#hostCalls.delete(hostCall)
    if (open.call === 0) this.#unattributed.delete(hostCall)
    else this.#calls.get(open.call)?.hostCalls?.delete(hostCall)
    this.#deps.numbers.free(hostCall)
    return open
  }

  /** Host calls without a response: code that still waits for them gets an error once something runs again. */
  takeRefusals(): AnswerRecord[] {
    const refusals = this.#refusals
    if (refusals.length > 0) this.#refusals = []
    return refusals
  }

  #close(call: OpenCall): void {
    this.#calls.delete(call.id)
    this.#deps.home.activeCalls -= 1
    this.#orphan(call.hostCalls ?? NONE)
    if (this.#calls.size === 0) this.#orphan(this.#unattributed)
  }

  /** Ends host calls whose callers are gone. */
  #orphan(hostCalls: Iterable<number>): void {
    for (const hostCall of hostCalls) {
      const open = this.endHostCall(hostCall)
      if (!open) continue
      this.#refusals.push({ kind: 'answer', numbers: [open.guestId, 0], texts: [ORPHANED] })
      if (open.local) this.#deps.longCrypto.cancel(hostCall)
      else this.#deps.outbox.cancelHostCall(hostCall)
    }
  }
}

function refused(code: string, message: string): string {
  const failure: HostFailure = { code, message, statusCode: code === 'CallOver' ? 409 : 413 }
  return JSON.stringify(failure)
}
