import ivm from 'isolated-vm'

/** Entries between two looks at the heap, while it is far from full. */
const SAMPLE_EVERY = 16
const FAR_FROM_FULL = 0.35
/** Share of the memory limit at which an isolate is replaced before V8 has to abort. */
const FULL = 0.7
/**
 * What may be allocated before what is short-lived is collected. V8 itself would wait for 1 MB, use that much twice, and
 * keep both for as long as the isolate lives.
 */
const UNTIDY_BYTES = 192 * 1024

/** An isolate that is not assigned to a site yet, with its first context. */
export interface BlankIsolate {
  readonly memoryMb: number
  readonly isolate: ivm.Isolate
  readonly context: ivm.Context
}

export function blankIsolate(
  memoryMb: number,
  snapshot: ivm.ExternalCopy<ArrayBuffer>,
): BlankIsolate {
  const isolate = new ivm.Isolate({ memoryLimit: memoryMb, snapshot })
  return { memoryMb, isolate, context: isolate.createContextSync() }
}

/** One V8 heap made from the prelude's snapshot: what the functions of one program share. */
export class GuestIsolate {
  readonly programKey: string
  readonly memoryMb: number
  readonly isolate: ivm.Isolate
  /** Calls whose outcome is still open. */
  activeCalls = 0
  /** No new call may be started in it. */
  retired = false
  /** That is so because it nears its memory limit. */
  isFull = false
  #first: ivm.Context | undefined
  #entries = 0
  #isFar = true
  /** The heap's size after the last collection; undefined when it is to be looked at. */
  #tidyBytes: number | undefined

  constructor(programKey: string, { memoryMb, isolate, context }: BlankIsolate) {
    this.programKey = programKey
    this.memoryMb = memoryMb
    this.isolate = isolate
    this.#first = context
  }

  /** A global scope in which nothing has run. */
  context(): ivm.Context {
    const context = this.#first ?? this.isolate.createContextSync()
    this.#first = undefined
    return context
  }

  get disposed(): boolean {
    return this.isolate.isDisposed
  }

  /** Looks at the heap after some of the entries: `full` when it nears the limit, `untidy` when a collection pays. */
  heapAfterEntry(): 'fine' | 'untidy' | 'full' {
    this.#entries += 1
    if ((this.#isFar && this.#entries % SAMPLE_EVERY !== 0) || this.disposed) return 'fine'
    const heap = this.isolate.getHeapStatisticsSync()
    const used = heap.used_heap_size + heap.externally_allocated_size
    const share = used / (this.memoryMb * 1024 * 1024)
    this.#isFar = share < FAR_FROM_FULL
    if (share > FULL) return 'full'
    this.#tidyBytes = Math.min(used, this.#tidyBytes ?? used)
    if (used - this.#tidyBytes < UNTIDY_BYTES) return 'fine'
    this.#tidyBytes = undefined
    return 'untidy'
  }

  dispose(): void {
    if (!this.disposed) this.isolate.dispose()
  }
}
