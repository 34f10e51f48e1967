import type ivm from 'isolated-vm'

import type { LongResult } from '#sandbox/crypto/crypto-thread.ts'
import { LongCrypto } from '#sandbox/crypto/long-crypto.ts'
import { QuickCrypto } from '#sandbox/crypto/quick-crypto.ts'
import { adHocModule } from '#sandbox/modules/prepare.ts'
import { TO_GUEST, TO_WORKER } from '#sandbox/protocol/grammars.ts'
import type { ProgressMarker } from '#sandbox/protocol/progress-marker.ts'
import type { SlotDefinition, ToWorker } from '#sandbox/protocol/protocol.ts'
import { readRecords } from '#sandbox/protocol/records.ts'

import { CallProfiler } from './call-profiler.ts'
import { CpuClock } from './cpu-clock.ts'
import { thrownMessage } from './entry-result.ts'
import { FullIsolates } from './full-isolates.ts'
import type { GuestParts } from './guest-parts.ts'
import { type HostAnswer, Instance } from './instance.ts'
import type { GuestIsolate } from './isolate.ts'
import type { CallRecord } from './open-calls.ts'
import { sectionOf } from './sections.ts'
import { BROUGHT_DOWN, TOO_BUSY } from './starved-entry.ts'
import { steadyNowMs } from './steady-clock.ts'
import { WakeTimers } from './wake-timers.ts'
import { WarmIsolates } from './warm-isolates.ts'
import type { WorkerOutput } from './worker-output.ts'

interface Slot {
  readonly id: number
  readonly definition: SlotDefinition
  instance: Instance | undefined
}

/** The isolates of one worker: turns what the service says into entries, and entries into answers. */
export class Engine {
  readonly #deps
  readonly #warm: WarmIsolates
  readonly #slots = new Map<number, Slot>()
  readonly #instances = new Map<GuestIsolate, Set<Instance>>()
  readonly #askers = new Map<number, Instance>()
  readonly #wakes = new WakeTimers<Instance>((instance) => this.#wake(instance))
  readonly #cpu = new CpuClock()
  readonly #crypto = new QuickCrypto()
  readonly #longCrypto = new LongCrypto({
    answered: (hostCall, result, owedMs) => this.#answerLong(hostCall, result, owedMs),
  })
  readonly #full: FullIsolates
  #lastHostCall = 0
  #reportedWarm = 0

  constructor(deps: {
    readonly snapshot: ivm.ExternalCopy<ArrayBuffer>
    readonly parts: GuestParts
    readonly warmIsolates: number
    /** Resident memory at which the service ends this process. */
    readonly memoryBytes: number
    readonly outbox: WorkerOutput
    readonly progress: ProgressMarker
    /** Whether everything sent so far has left the process. */
    readonly flushed: () => boolean
  }) {
    this.#deps = deps
    this.#warm = new WarmIsolates(deps)
    this.#full = new FullIsolates(() => this.#instances.keys(), deps)
    this.#warm.prepareSpare()
  }

  /** Carries out one frame. Throws only on a frame that breaks the protocol. */
  receive(text: string): void {
    const { progress, outbox, flushed } = this.#deps
    const answers = new Map<Instance, HostAnswer[]>()
    const left = { abort: [] as number[], end: [] as number[] }
    const records = readRecords(text, TO_WORKER)
    const last = records.at(-1)
    const seq = last?.kind === 'batch' ? last.numbers[0] : 0
    const isWithdrawn = progress.isWithdrawn(seq)
    // Without a mark the first section of the oldest batch is the one that runs, if what came before is out.
    let marked = flushed()
    const nowMs = performance.now()
    this.#warm.noteWork(nowMs)
    this.#cpu.begin(nowMs)
    records.forEach((record, index) => {
      switch (record.kind) {
        case 'batch':
          break
        case 'defineSlot':
          this.#define(record.numbers[0], record.texts[0])
          break
        case 'forgetSlot':
          this.#forget(record.numbers[0])
          break
        case 'section':
          if (isWithdrawn) break
          if (!marked) progress.section(seq, index)
          marked = false
          this.#start(record.numbers[0], record.texts[0])
          break
        case 'answer':
          this.#group(answers, record)
          break
        case 'abort':
        case 'end':
          left[record.kind].push(record.numbers[0])
      }
    })
    for (const [instance, list] of answers) {
      progress.slot(instance.slot, seq)
      this.#enter(instance, () => instance.answer(list))
    }
    this.#leave(left.abort, seq, (instance, calls) => instance.abort(calls))
    this.#leave(left.end, seq, (instance, calls) => instance.endCalls(calls))
    if (answers.size > 0 || left.abort.length + left.end.length > 0) progress.idle()
    if (isWithdrawn) outbox.withdrawn(seq)
    else if (seq > 0) outbox.acknowledge(seq)
    this.#flush()
  }

  close(): void {
    this.#wakes.clearAll()
    this.#longCrypto.close()
    this.#warm.dispose()
    for (const isolate of this.#instances.keys()) isolate.dispose()
  }

  #define(id: number, text: string): void {
    let definition = JSON.parse(text) as SlotDefinition
    if (definition.purpose === 'compute') {
      const modules = definition.modules.map(adHocModule)
      definition = { ...definition, modules }
    }
    this.#slots.set(id, { id, definition, instance: undefined })
  }

  #forget(id: number): void {
    const slot = this.#slots.get(id)
    this.#slots.delete(id)
    if (!slot) return
    this.#warm.retireProgram(slot.definition.programKey)
    this.#tidy()
  }

  #group(
    answers: Map<Instance, HostAnswer[]>,
    record: Extract<ToWorker, { kind: 'answer' }>,
  ): void {
    const [hostCall, ok] = record.numbers
    const instance = this.#askers.get(hostCall)
    if (!instance) return
    const answer = { hostCall, ok, text: record.texts[0] }
    const list = answers.get(instance)
    if (list) list.push(answer)
    else answers.set(instance, [answer])
  }

  /** Many calls may end at once, when their clients leave together: each instance is entered once. */
  #leave(
    ids: readonly number[],
    seq: number,
    enter: (instance: Instance, calls: readonly number[]) => void,
  ): void {
    if (ids.length === 0) return
    for (const instance of [...this.#instances.values()].flatMap((home) => [...home])) {
      const calls = ids.filter((id) => instance.calls.get(id))
      if (calls.length === 0) continue
      this.#deps.progress.slot(instance.slot, seq)
      this.#enter(instance, () => enter(instance, calls))
    }
  }

  #start(slotId: number, section: string, tries = 0): void {
    const slot = this.#slots.get(slotId)
    if (!slot) throw new Error(`Slot ${slotId} has not been defined`)
    try {
      const instance = this.#instanceOf(slot, tries)
      this.#warm.touch(instance.home)
      this.#enter(instance, () => instance.start(section))
    } catch (error) {
      this.#refuse(section, error)
    }
  }

  /** Runs an entry and what follows from it. Whatever the guest makes the host's own code throw ends its isolate. */
  #enter(instance: Instance, entry: () => void): void {
    try {
      entry()
    } catch (error) {
      instance.end({ kind: 'interrupted', message: thrownMessage(error) })
      this.#stop(instance, [])
    }
    this.#wakes.set(instance, instance.wakeMs)
    if (instance.home.retired || instance.home.disposed || instance.over) this.#settle(instance)
  }

  #wake(instance: Instance): void {
    if (instance.home.disposed || instance.calls.size === 0) return
    const nowMs = steadyNowMs()
    this.#cpu.lostMs += Math.max(0, nowMs - instance.wakeMs)
    if (instance.wakeMs > nowMs) {
      this.#wakes.set(instance, instance.wakeMs)
      return
    }
    this.#resume(instance, () => instance.wake(nowMs))
  }

  #answerLong(hostCall: number, result: LongResult, owedMs: number): void {
    const instance = this.#askers.get(hostCall)
    if (instance) this.#resume(instance, () => instance.answerLong(hostCall, result, owedMs))
  }

  /** An entry that no frame asked for. */
  #resume(instance: Instance, entry: () => void): void {
    this.#deps.progress.slot(instance.slot, 0)
    this.#cpu.begin(performance.now())
    this.#enter(instance, entry)
    this.#deps.progress.idle()
    this.#flush()
  }

  #instanceOf(slot: Slot, tries: number): Instance {
    if (slot.instance?.acceptsCalls) return slot.instance
    const { programKey, memoryMb, purpose, modules } = slot.definition
    const home = this.#warm.get(programKey, memoryMb)
    const instance: Instance = new Instance(home, {
      slot: slot.id,
      definition: slot.definition,
      cpu: this.#cpu,
      tries,
      parts: this.#deps.parts,
      crypto: this.#crypto,
      longCrypto: this.#longCrypto,
      progress: this.#deps.progress,
      outbox: this.#deps.outbox,
      profiler: purpose === 'profile' ? new CallProfiler(home.isolate, modules) : undefined,
      numbers: {
        next: () => {
          this.#lastHostCall += 1
          this.#askers.set(this.#lastHostCall, instance)
          return this.#lastHostCall
        },
        free: (hostCall) => void this.#askers.delete(hostCall),
      },
      stopped: (stopped, left, again) => this.#stop(stopped, left, again),
    })
    this.#instances.set(home, (this.#instances.get(home) ?? new Set()).add(instance))
    slot.instance = instance
    return instance
  }

  /** Gives an isolate up: its open calls are interrupted, those not begun are begun in another one. */
  #stop(instance: Instance, left: readonly CallRecord[], tries = 0): void {
    const { home } = instance
    for (const neighbour of this.#instances.get(home) ?? []) {
      neighbour.end({ kind: 'interrupted', message: tries > 0 ? TOO_BUSY : BROUGHT_DOWN })
      this.#wakes.clear(neighbour)
    }
    this.#warm.retire(home)
    this.#instances.delete(home)
    this.#full.look(home)
    if (left.length > 0) this.#start(instance.slot, sectionOf(left), tries)
  }

  /** Releases an instance that takes no more calls, once its last one has ended. */
  #settle(instance: Instance): void {
    const { home } = instance
    if (instance.calls.size === 0) {
      this.#wakes.clear(instance)
      instance.release()
      this.#instances.get(home)?.delete(instance)
      const slot = this.#slots.get(instance.slot)
      if (slot?.instance === instance) slot.instance = undefined
    }
    if (home.retired) this.#warm.retire(home)
    if (home.disposed) this.#instances.delete(home)
    this.#full.look(home)
  }

  /** Forgets isolates that were disposed of while they were idle. */
  #tidy(): void {
    for (const isolate of this.#instances.keys()) {
      if (isolate.disposed) this.#instances.delete(isolate)
    }
  }

  #refuse(section: string, error: unknown): void {
    const message = `The isolate could not be made: ${thrownMessage(error)}`
    for (const record of readRecords(section, TO_GUEST)) {
      this.#deps.outbox.failure(record.numbers[0], 0, { kind: 'interrupted', message })
    }
  }

  #flush(): void {
    this.#warm.relieve()
    this.#warm.stockWhenQuiet()
    if (this.#warm.size !== this.#reportedWarm) {
      this.#reportedWarm = this.#warm.size
      this.#deps.outbox.warmIsolates(this.#reportedWarm)
      this.#tidy()
    }
    this.#deps.outbox.flush()
  }
}
