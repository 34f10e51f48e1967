import type { Socket } from 'node:net'

import { FrameEncoder } from '#sandbox/protocol/frames.ts'
import { FROM_WORKER, TO_GUEST, TO_WORKER } from '#sandbox/protocol/grammars.ts'
import type { FromWorker, SlotDefinition } from '#sandbox/protocol/protocol.ts'
import { readRecords, RecordWriter } from '#sandbox/protocol/records.ts'

import { AnswerQueue, type HostCallAnswer } from './answer-queue.ts'
import { callerOf } from './call.ts'
import type { PendingCall } from './pending-call.ts'
import type { SlotKey } from './slot-key.ts'

/** Frames on their way to a worker that it has not acknowledged. */
const MAX_UNACKED = 2
const LAST_SEQ = 0x7fffffff

/** Programs whose code a worker keeps, warm or not. */
const MAX_PROGRAMS = 1000

/** What was sent to a worker in one frame. */
export interface SentFrame {
  readonly seq: number
  readonly sentMs: number
  /** The longest that one stretch of its calls may take. */
  readonly cpuMs: number
  /** Nothing is sent behind it: it may take long, or bring the host down. */
  readonly risky: boolean
  sections: readonly SentSection[]
  /** Whether its calls are withdrawn. */
  isWithdrawn: boolean
}

export interface SentSection {
  /** The index of its record in the frame. */
  readonly index: number
  readonly slot: number
  readonly calls: readonly PendingCall[]
}

/** Records of a worker, except for the frames that it has received. */
export type WorkerRecord = Exclude<FromWorker, { kind: 'acknowledge' | 'withdrawn' | 'hello' }>

export interface WorkerEvents {
  /** The worker has begun what is in these frames. */
  acknowledged(worker: WorkerConnection, frames: readonly SentFrame[]): void
  /** The worker has not begun these calls, and will not. */
  withdrawn(calls: readonly PendingCall[]): void
  record(worker: WorkerConnection, record: WorkerRecord): void
  /** After every frame from the worker. */
  received(worker: WorkerConnection): void
}

/** The connection to one worker: its slots, its frames and the calls that are inside it. */
export class WorkerConnection {
  /** Process id of the worker's host. */
  readonly pid: number
  readonly progressPath: string
  /** What it is for; a spare is given another place. */
  place: SlotKey
  /** Its place is another's by now: it only ends what it has begun. */
  isLeaving = false
  readonly activeCalls = new Map<number, PendingCall>()
  readonly unacked: SentFrame[] = []
  warmIsolates = 0
  /** Whether the last frame was one of answers. */
  lastHadAnswers = false
  readonly #socket: Socket
  readonly #events: WorkerEvents
  readonly #slots = new Map<string, Map<string, number>>()
  readonly #programOf = new Map<number, PendingCall['program']>()
  readonly #frames = new FrameEncoder()
  #next = new RecordWriter(TO_WORKER)
  readonly #answers = new AnswerQueue()
  #index = 0
  #lastSeq = 0
  #lastSlot = 0

  constructor(
    socket: Socket,
    host: { readonly pid: number; readonly progressPath: string; readonly place: SlotKey },
    events: WorkerEvents,
  ) {
    this.pid = host.pid
    this.progressPath = host.progressPath
    this.place = host.place
    this.#socket = socket
    this.#events = events
  }

  /** Whether a frame of calls may be sent now. */
  get acceptsCalls(): boolean {
    const [first] = this.unacked
    return !first || (this.unacked.length < MAX_UNACKED && !first.risky)
  }

  get canSend(): boolean {
    return this.unacked.length < MAX_UNACKED
  }

  /** How long the worker has been silent about the oldest frame. */
  silentMs(nowMs: number): number {
    const [first] = this.unacked
    return first ? nowMs - first.sentMs : 0
  }

  /** Whether it was given the call's code before. */
  hasLoaded({ program, definition }: PendingCall): boolean {
    return this.#slots.get(program.key)?.has(definition.functionId) === true
  }

  programOf(slot: number): PendingCall['program'] | undefined {
    return this.#programOf.get(slot)
  }

  /** Calls that are inside the worker in that slot. */
  activeCallsIn(slot: number): PendingCall[] {
    return [...this.activeCalls.values()].filter((call) => call.slot === slot)
  }

  /** Goes out with one of the next frames. */
  answer(answer: HostCallAnswer): void {
    this.#answers.push(answer)
  }

  /** Its client has gone, or it is to end at once. Goes out with the next frame. */
  tell(kind: 'abort' | 'end', id: number): void {
    this.#next.add(kind, [id], [])
    this.#added()
  }

  /** The worker is gone and reads no more of them. */
  dropAnswers(): void {
    for (const { onSent } of this.#answers.drain()) onSent()
  }

  /** Goes out with the next frame. */
  forget(programKey: string): void {
    for (const slot of this.#slots.get(programKey)?.values() ?? []) {
      this.#programOf.delete(slot)
      this.#next.add('forgetSlot', [slot], [])
      this.#added()
    }
    this.#slots.delete(programKey)
  }

  get hasOutgoing(): boolean {
    return this.#index > 0 || !this.#answers.isEmpty
  }

  /**
   * Sends these calls as one batch, or what is waiting. Answers have frames of their own: a call's result would wait for
   * whatever they set off.
   */
  send(calls: readonly PendingCall[], options: { nowMs: number; risky: boolean }): void {
    const sections: SentSection[] = []
    for (const group of this.#bySlot(calls)) sections.push(this.#addSection(group))
    const answers = calls.length > 0 ? [] : this.#answers.takeFrame()
    this.lastHadAnswers = answers.length > 0
    for (const { hostCall, ok, text } of answers) {
      this.#next.add('answer', [hostCall, ok ? 1 : 0], [text])
      this.#added()
    }
    this.#lastSeq = this.#lastSeq === LAST_SEQ ? 1 : this.#lastSeq + 1
    this.#next.add('batch', [this.#lastSeq], [])
    let cpuMs = 0
    for (const { program } of calls) cpuMs = Math.max(cpuMs, program.limits.cpuMs)
    const { nowMs, risky } = options
    this.unacked.push({
      seq: this.#lastSeq,
      sentMs: nowMs,
      cpuMs,
      risky,
      sections,
      isWithdrawn: false,
    })
    this.#socket.write(this.#frames.encode(this.#next.take()))
    this.#index = 0
    for (const { onSent } of answers) onSent()
  }

  receive(text: string): void {
    for (const record of readRecords(text, FROM_WORKER)) {
      if (record.kind === 'acknowledge') this.#acknowledge(record.numbers[0])
      else if (record.kind === 'withdrawn') this.#withdrawn(record.numbers[0])
      // Who it is was seen when it connected.
      else if (record.kind !== 'hello') this.#events.record(this, record)
    }
    this.#events.received(this)
  }

  /** Takes out the calls of a frame that the worker will not begin. */
  takeBack(frame: SentFrame): PendingCall[] {
    const calls = frame.sections.flatMap((section) => section.calls)
    frame.sections = []
    return calls.filter(({ id }) => this.removeCall(id) !== undefined)
  }

  /** Takes a call out that has been answered. */
  removeCall(id: number): PendingCall | undefined {
    const call = this.activeCalls.get(id)
    this.activeCalls.delete(id)
    return call
  }

  #withdrawn(seq: number): void {
    const frame = this.unacked.find((one) => one.seq === seq)
    if (frame) this.#events.withdrawn(this.takeBack(frame))
    this.#acknowledge(seq)
  }

  #acknowledge(seq: number): void {
    const at = this.unacked.findIndex((frame) => frame.seq === seq)
    if (at < 0) return
    this.#events.acknowledged(this, this.unacked.splice(0, at + 1))
  }

  /** The index in the frame of the record just added. */
  #added(): number {
    this.#index += 1
    return this.#index - 1
  }

  #bySlot(calls: readonly PendingCall[]): Map<number, PendingCall[]> {
    const groups = new Map<number, PendingCall[]>()
    for (const call of calls) {
      const slot = this.#slotFor(call)
      this.activeCalls.set(call.id, call)
      call.slot = slot
      const group = groups.get(slot)
      if (group) group.push(call)
      else groups.set(slot, [call])
    }
    return groups
  }

  #addSection([slot, calls]: readonly [number, readonly PendingCall[]]): SentSection {
    const section = new RecordWriter(TO_GUEST)
    for (const { id, call } of calls) {
      const { operation, requestId, body } = call
      section.add(
        'call',
        [id, call.exchange ? 1 : 0],
        [operation, requestId, callerOf(call)?.authText ?? 'null', body],
      )
    }
    this.#next.add('section', [slot], [section.take()])
    return { slot, calls, index: this.#added() }
  }

  /** The programs used last are at the end; the worker keeps the code of only so many. */
  #slotsOf(programKey: string): Map<string, number> {
    let slots = this.#slots.get(programKey)
    if (slots && this.#slots.size < MAX_PROGRAMS / 2) return slots
    this.#slots.delete(programKey)
    if (this.#slots.size >= MAX_PROGRAMS) {
      const [oldest] = this.#slots.keys()
      if (oldest !== undefined) this.forget(oldest)
    }
    slots ??= new Map()
    this.#slots.set(programKey, slots)
    return slots
  }

  #slotFor(call: PendingCall): number {
    const { program, definition } = call
    const slots = this.#slotsOf(program.key)
    const known = slots.get(definition.functionId)
    call.cold = known === undefined
    if (known !== undefined) return known
    this.#lastSlot += 1
    slots.set(definition.functionId, this.#lastSlot)
    this.#programOf.set(this.#lastSlot, program)
    this.#next.add('defineSlot', [this.#lastSlot], [JSON.stringify(slotDefinition(call))])
    this.#added()
    return this.#lastSlot
  }
}

/** What a worker has to know of a function before its first call. */
function slotDefinition({ program, definition, purpose }: PendingCall): SlotDefinition {
  const { name, entry, handler, modules, env, timeoutMs, schemas } = definition
  const { cpuMs, resultBytes, logLineLength, logLines } = program.limits
  let memoryMb = 0
  for (const one of program.functions.values()) memoryMb = Math.max(memoryMb, one.memoryMb)
  return {
    programKey: program.key,
    siteId: program.siteId,
    siteDomain: program.siteDomain,
    name,
    entry,
    handler,
    modules,
    env,
    timeoutMs,
    memoryMb,
    purpose,
    ...(schemas && { schemas }),
    limits: { cpuMs, resultBytes, logLineLength, logLines },
  }
}
