/** Why no permit was given. */
export type LimiterRefusal =
  | { readonly reason: 'queue-full'; readonly maxQueued: number }
  | { readonly reason: 'timeout'; readonly maxWaitMs: number }
  | { readonly reason: 'aborted' }

interface WaitLimits {
  /** Permits that one key may hold; at least 1. Unlimited when left out. */
  readonly permitsPerKey?: number
  /** Requests of one key that may wait. Unlimited when left out. */
  readonly maxQueued?: number
  /** How long a request may wait, in milliseconds. Unlimited when left out. */
  readonly maxWaitMs?: number
}

interface LimiterOptions extends WaitLimits {
  /** Permits of all keys together; at least 1. Unlimited when left out. */
  readonly permits?: number
  /** Those of all permits that only a key which holds none may take. */
  readonly reservedPermits?: number
  /** Requests of all keys that may wait. Unlimited when left out. */
  readonly maxQueuedInAll?: number
  /** Places beside those, for keys of which none waits: no crowd of one key keeps the others out. */
  readonly reservedQueue?: number
  /** Makes the error of a request that is refused. */
  readonly refuse: (refusal: LimiterRefusal) => Error
}

/** Limits that are given here replace those of the limiter. */
interface PermitRequest extends WaitLimits {
  readonly key?: string
  /** Permits that it takes; 1 when left out. One that exceeds a limit runs alone. */
  readonly weight?: number
  /** Ends the waiting. Once a permit is given it has no effect. */
  readonly signal?: AbortSignal | undefined
  readonly refuse?: (refusal: LimiterRefusal) => Error
}

interface Waiter {
  readonly request: PermitRequest
  readonly admit: () => void
}

const NO_KEY = ''

/**
 * A semaphore with permits per key and in all. Requests of one key are served in the order in which they came, keys in
 * turn. Who finds a permit free gets it synchronously.
 */
export class Limiter {
  readonly #options: LimiterOptions
  readonly #permits: number
  readonly #held = new Map<string, number>()
  /** Keys with waiting requests; the key that was served last is the last one. */
  readonly #queues = new Map<string, Set<Waiter>>()
  #heldInAll = 0

  constructor(options: LimiterOptions) {
    this.#options = options
    this.#permits = options.permits ?? Infinity
  }

  /** Permits that are held. */
  get held(): number {
    return this.#heldInAll
  }

  /** Requests that wait. */
  get waiting(): number {
    let waiting = 0
    for (const queue of this.#queues.values()) waiting += queue.size
    return waiting
  }

  /** Runs `work` with a permit. Rejects with the error of `refuse`, and with what `work` throws. */
  async run<Result>(work: () => Promise<Result>, request: PermitRequest = {}): Promise<Result> {
    if (!this.tryAcquire(request)) await this.acquire(request)
    try {
      return await work()
    } finally {
      this.release(request)
    }
  }

  /** Takes a permit if one is free and the request is not aborted; `release` it with the same request. */
  tryAcquire(request: PermitRequest = {}): boolean {
    if (request.signal?.aborted || this.#queues.has(request.key ?? NO_KEY)) return false
    if (!this.#fits(request)) return false
    this.#hold(request.key, request.weight ?? 1)
    return true
  }

  /** Waits for a permit. Rejects with the error of `refuse`. */
  acquire(request: PermitRequest = {}): Promise<void> {
    const { key = NO_KEY, signal, maxQueued = this.#options.maxQueued } = request
    if (signal?.aborted) return Promise.reject(this.#refusal(request, { reason: 'aborted' }))
    if (this.tryAcquire(request)) return Promise.resolve()
    const queue = this.#queues.get(key) ?? new Set()
    const places = Math.min(maxQueued ?? Infinity, this.#placesLeft(queue))
    if (queue.size >= places) {
      return Promise.reject(this.#refusal(request, { reason: 'queue-full', maxQueued: places }))
    }
    this.#queues.set(key, queue)
    return this.#wait(queue, request)
  }

  /** Gives permits back: those of the request, or `weight` of them. */
  release({ key, weight: whole = 1 }: PermitRequest = {}, weight = whole): void {
    this.#hold(key, -weight)
    this.#admitWaiting(key)
  }

  /** How many requests of a key may wait as things are. */
  #placesLeft({ size }: ReadonlySet<Waiter>): number {
    const { maxQueuedInAll = Infinity, reservedQueue = 0 } = this.#options
    if (maxQueuedInAll === Infinity) return Infinity
    return Math.max(0, size + maxQueuedInAll + (size === 0 ? reservedQueue : 0) - this.waiting)
  }

  #wait(queue: Set<Waiter>, request: PermitRequest): Promise<void> {
    const { key = NO_KEY, signal, maxWaitMs = this.#options.maxWaitMs } = request
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
        queue.delete(waiter)
        if (queue.size === 0) this.#queues.delete(key)
      }
      const giveUp = (refusal: LimiterRefusal): void => {
        leave()
        reject(this.#refusal(request, refusal))
        // A lighter request may have waited behind this one.
        this.#admitWaiting(key)
      }
      const onAbort = (): void => giveUp({ reason: 'aborted' })
      const waiter: Waiter = {
        request,
        admit() {
          leave()
          resolve()
        },
      }
      const timer =
        maxWaitMs === undefined
          ? undefined
          : setTimeout(() => giveUp({ reason: 'timeout', maxWaitMs }), maxWaitMs)
      signal?.addEventListener('abort', onAbort, { once: true })
      queue.add(waiter)
    })
  }

  /** Permits of `changed` became free. Without a common limit that matters to no other key. */
  #admitWaiting(changed = NO_KEY): void {
    const queue = this.#queues.get(changed)
    if (this.#permits === Infinity) {
      while (queue && this.#admitFirst(queue));
      return
    }
    // A key that is put at the end is visited again.
    for (const [key, each] of this.#queues) {
      if (this.#heldInAll >= this.#permits) return
      if (!this.#admitFirst(each) || each.size === 0) continue
      this.#queues.delete(key)
      this.#queues.set(key, each)
    }
  }

  #admitFirst(queue: ReadonlySet<Waiter>): boolean {
    const [first] = queue
    if (!first || !this.#fits(first.request)) return false
    this.#hold(first.request.key, first.request.weight ?? 1)
    first.admit()
    return true
  }

  #fits(request: PermitRequest): boolean {
    const { reservedPermits = 0 } = this.#options
    const { key = NO_KEY, weight = 1 } = request
    const { permitsPerKey = this.#options.permitsPerKey ?? Infinity } = request
    const held = this.#held.get(key) ?? 0
    if (held === 0) return this.#heldInAll === 0 || this.#heldInAll + weight <= this.#permits
    return (
      held + weight <= permitsPerKey && this.#heldInAll + weight <= this.#permits - reservedPermits
    )
  }

  #hold(key = NO_KEY, weight: number): void {
    const held = (this.#held.get(key) ?? 0) + weight
    if (held === 0) this.#held.delete(key)
    else this.#held.set(key, held)
    this.#heldInAll += weight
  }

  #refusal(request: PermitRequest, refusal: LimiterRefusal): Error {
    return request.refuse?.(refusal) ?? this.#options.refuse(refusal)
  }
}
