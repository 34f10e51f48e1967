import process from 'node:process'

import type ivm from 'isolated-vm'

import { type BlankIsolate, blankIsolate, GuestIsolate } from './isolate.ts'

/** Share of the warm isolates that stays when the process has grown too large. */
const RELIEF_KEEPS = 0.7
const RELIEF_EVERY_MS = 1000

export interface WarmIsolatesOptions {
  readonly snapshot: ivm.ExternalCopy<ArrayBuffer>
  /** How many may be warm. */
  readonly warmIsolates: number
  /** Resident memory of the process above which idle ones are dropped. */
  readonly softMemoryBytes: number
}

/** The isolates of one worker, one per program, the least recently used first. */
export class WarmIsolates {
  readonly #options: WarmIsolatesOptions
  readonly #warm = new Map<string, GuestIsolate>()
  #spare: BlankIsolate | undefined
  /** What most programs ask for, as far as the last one tells. */
  #usualMemoryMb = 128
  #relievedMs = 0

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
      this.#evict()
      isolate = new GuestIsolate(programKey, this.#blank(memoryMb))
    }
    this.touch(isolate)
    return isolate
  }

  get hasSpare(): boolean {
    return this.#spare !== undefined
  }

  /** Makes an isolate in advance, so that the next program need not wait for it. */
  prepareSpare(): void {
    this.#spare ??= blankIsolate(this.#usualMemoryMb, this.#options.snapshot)
  }

  dispose(): void {
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

  #blank(memoryMb: number): BlankIsolate {
    const spare = this.#spare
    this.#usualMemoryMb = memoryMb
    this.#spare = undefined
    if (spare?.memoryMb === memoryMb) return spare
    spare?.isolate.dispose()
    return blankIsolate(memoryMb, this.#options.snapshot)
  }

  #evict(): void {
    const { warmIsolates, softMemoryBytes } = this.#options
    let room = warmIsolates - 1
    const nowMs = performance.now()
    // V8 gives memory back slowly, so that what the last relief freed may not show yet.
    if (nowMs - this.#relievedMs > RELIEF_EVERY_MS && process.memoryUsage.rss() > softMemoryBytes) {
      this.#relievedMs = nowMs
      room = Math.min(room, Math.floor(this.#warm.size * RELIEF_KEEPS))
    }
    for (const isolate of this.#warm.values()) {
      if (this.#warm.size <= room) return
      if (isolate.activeCalls === 0) this.retire(isolate)
    }
  }
}
