import type ivm from 'isolated-vm'

import { GuestIsolate } from './isolate.ts'

/** The isolates of one worker, one per program, the least recently used first. */
export class WarmIsolates {
  readonly #snapshot: ivm.ExternalCopy<ArrayBuffer>
  readonly #limit: number
  readonly #warm = new Map<string, GuestIsolate>()

  constructor(snapshot: ivm.ExternalCopy<ArrayBuffer>, limit: number) {
    this.#snapshot = snapshot
    this.#limit = limit
  }

  get size(): number {
    return this.#warm.size
  }

  /** The program's isolate, made when there is none that takes calls. */
  get(programKey: string, memoryMb: number): GuestIsolate {
    let isolate = this.#warm.get(programKey)
    if (!isolate || isolate.gone || isolate.retired) {
      this.#evict()
      isolate = new GuestIsolate(programKey, memoryMb, this.#snapshot)
    }
    this.touch(isolate)
    return isolate
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
    if (isolate.live === 0) isolate.dispose()
  }

  retireProgram(programKey: string): void {
    const isolate = this.#warm.get(programKey)
    if (isolate) this.retire(isolate)
  }

  /** To be called when a call has ended in it. */
  settled(isolate: GuestIsolate): void {
    if (isolate.retired && isolate.live === 0) isolate.dispose()
  }

  #evict(): void {
    if (this.#warm.size < this.#limit) return
    for (const isolate of this.#warm.values()) {
      if (isolate.live > 0) continue
      this.retire(isolate)
      if (this.#warm.size < this.#limit) return
    }
  }
}
