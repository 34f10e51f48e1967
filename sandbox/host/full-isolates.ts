import type { GuestIsolate } from './isolate.ts'
import type { WorkerOutput } from './worker-output.ts'

/** Isolates of one site that its open calls may have filled: then it begins no more until one of them is free. */
const MAX_FULL = 4
/** The same, as a share of the memory at which the service ends this process. */
const MAX_SHARE = 1 / 4
const MIB = 1024 * 1024

/** Watches how much of this process the open calls of a site hold: a full isolate stays until its last call has ended. */
export class FullIsolates {
  readonly #isolates: () => Iterable<GuestIsolate>
  readonly #deps
  readonly #crowded = new Set<string>()

  constructor(
    isolates: () => Iterable<GuestIsolate>,
    deps: {
      /** Resident memory at which the service ends this process. */
      readonly memoryBytes: number
      readonly outbox: Pick<WorkerOutput, 'crowded'>
    },
  ) {
    this.#isolates = isolates
    this.#deps = deps
  }

  /** An isolate that takes no more calls has lost one, or is gone. */
  look({ programKey, memoryMb, isFull }: GuestIsolate): void {
    const siteId = siteOf(programKey)
    if (!isFull && !this.#crowded.has(siteId)) return
    const most = Math.floor((this.#deps.memoryBytes * MAX_SHARE) / (memoryMb * MIB))
    const isCrowded = this.#countOf(siteId) >= Math.max(1, Math.min(MAX_FULL, most))
    if (isCrowded === this.#crowded.has(siteId)) return
    if (isCrowded) this.#crowded.add(siteId)
    else this.#crowded.delete(siteId)
    this.#deps.outbox.crowded(siteId, isCrowded)
  }

  #countOf(siteId: string): number {
    let count = 0
    for (const { programKey, isFull, disposed, activeCalls } of this.#isolates()) {
      if (isFull && !disposed && activeCalls > 0 && siteOf(programKey) === siteId) count += 1
    }
    return count
  }
}

/** A program is of a revision of a site, or of ad-hoc code, which its name says after the site. */
const siteOf = (programKey: string): string => programKey.split(/[@!]/, 1)[0] ?? ''
