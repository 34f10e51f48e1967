import process from 'node:process'

import type ivm from 'isolated-vm'

import { type BlankIsolate, blankIsolate, GuestIsolate } from './isolate.ts'

/** Shares of the memory at which the service ends the process: from there on some idle isolates go, or all of them. */
const LARGE = 0.7
const TOO_LARGE = 0.85
/** Share of the warm isolates that stays in a process that is large. */
const RELIEF_KEEPS = 0.7
/** V8 gives memory back slowly, so that what the last relief freed may not show yet. */
const RELIEF_EVERY_MS = 1000
const LOOK_EVERY_MS = 100
/** When nothing has come for so long, there is time to make an isolate in advance. */
const QUIET_MS = 10

export interface WarmIsolatesOptions {
  readonly snapshot: ivm.ExternalCopy<ArrayBuffer>
  /** How many may be warm. */
  readonly warmIsolates: number
  /** Resident memory at which the service ends this process. */
  readonly memoryBytes: number
}

/** The isolates of one worker, one per program, the least recently used first. */
export class WarmIsolates {
  readonly #options: WarmIsolatesOptions
  readonly #warm = new Map<string, GuestIsolate>()
  #spare: BlankIsolate | undefined
  /** What most programs ask for, as far as the last one tells. */
  #usualMemoryMb = 128
  #relievedMs = 0
  #lookedMs = 0
  #busyMs = 0
  #stocking: NodeJS.Timeout | undefined

  constructor(options: WarmIsolatesOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#warm.size
  }

  /** The program's isolate, made when there is none that takes calls. */
  get(programKey: string, memoryMb: number): GuestIsolate {
    let isolate = this.#warm.get(programKey)
    if (!isolate || isolate.disposed || isolate.retired) {
      this.relieve()
      this.#keep(this.#options.warmIsolates - 1)
      isolate = new GuestIsolate(programKey, this.#blank(memoryMb))
    }
    this.touch(isolate)
    return isolate
  }

  /** Makes an isolate in advance, so that the next program need not wait for it. */
  prepareSpare(): void {
    this.#spare ??= blankIsolate(this.#usualMemoryMb, this.#options.snapshot)
  }

  /** Something has come, which an isolate made now would keep waiting. */
  noteWork(nowMs: number): void {
    this.#busyMs = nowMs
  }

  /** The next spare is made when nothing has come for a moment, so that no call waits for it. */
  stockWhenQuiet(): void {
    if (this.#spare === undefined) this.#stocking ??= setTimeout(() => this.#stock(), QUIET_MS)
  }

  dispose(): void {
    clearTimeout(this.#stocking)
    this.#spare?.isolate.dispose()
    this.#spare = undefined
  }

  /** Makes it the most recently used. */
  touch(isolate: GuestIsolate): void {
    this.#warm.delete(isolate.programKey)
    this.#warm.set(isolate.programKey, isolate)
  }

  /** Lets what runs in it finish; nothing new starts there. */
  retire(isolate: GuestIsolate): void {
    isolate.retired = true
    if (this.#warm.get(isolate.programKey) === isolate) this.#warm.delete(isolate.programKey)
    if (isolate.activeCalls === 0) isolate.dispose()
  }

  retireProgram(programKey: string): void {
    const isolate = this.#warm.get(programKey)
    if (isolate) this.retire(isolate)
  }

  /** Drops idle isolates of a process that has grown. Cheap enough to be called after every frame. */
  relieve(): void {
    const nowMs = performance.now()
    if (nowMs - this.#lookedMs < LOOK_EVERY_MS) return
    this.#lookedMs = nowMs
    const used = process.memoryUsage.rss() / this.#options.memoryBytes
    if (used < LARGE || nowMs - this.#relievedMs < RELIEF_EVERY_MS) return
    this.#relievedMs = nowMs
    this.#keep(used < TOO_LARGE ? Math.floor(this.#warm.size * RELIEF_KEEPS) : 0)
  }

  #stock(): void {
    this.#stocking = undefined
    if (performance.now() - this.#busyMs >= QUIET_MS) this.prepareSpare()
    else this.stockWhenQuiet()
  }

  #blank(memoryMb: number): BlankIsolate {
    const spare = this.#spare
    this.#usualMemoryMb = memoryMb
    this.#spare = undefined
    if (spare?.memoryMb === memoryMb) return spare
    spare?.isolate.dispose()
    return blankIsolate(memoryMb, this.#options.snapshot)
  }

  /** Lets idle isolates go, those used least recently first, until so many are left. */
  #keep(count: number): void {
    for (const isolate of this.#warm.values()) {
      if (this.#warm.size <= count) return
      if (isolate.activeCalls === 0) this.retire(isolate)
    }
  }
}
