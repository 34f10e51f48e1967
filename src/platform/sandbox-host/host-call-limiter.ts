import { MemoryBudget, type MemoryLease } from '#base/memory-budget.ts'
import type { HostCallName } from '#sandbox/protocol/protocol.ts'

/** Limits host calls of one site that run at once, those included whose answer is not yet handed to the worker, and so what they hold. */
const MAX_RUNNING: Readonly<Partial<Record<HostCallName, number>>> = {
  table: 16,
  // An object may take megabytes.
  bucket: 8,
  sendEmail: 4,
  mailPart: 2,
  // They wait for others, mostly.
  fetch: 64,
  // Operations have a queue of their own, and wait for host calls of theirs.
}
/** Limits the arguments of one site's waiting host calls of one name together, in UTF-16 units. */
const MAX_WAITING_LENGTH = 64 * 1024 * 1024
/** Limits the arguments of those that run together; a single longer one runs alone. */
const MAX_RUNNING_LENGTH = 64 * 1024 * 1024

/** What the responses to host calls may hold in the service until they are handed to the site's code. */
const RESPONSE_MEMORY = {
  maxBytes: 256 * 1024 * 1024,
  maxBytesPerKey: 64 * 1024 * 1024,
  // Large responses of some sites leave a way in for sites that hold nothing yet.
  reservedBytes: 64 * 1024 * 1024,
}

interface HostCallRequest {
  readonly siteId: string
  readonly name: HostCallName
  readonly argument: string
}

/** What a host call holds while it runs. To release it a second time does nothing. */
export interface HostCallPermit {
  release(): void
}

interface KeyQueue {
  readonly permits: number
  running: number
  runningLength: number
  waitingLength: number
  readonly waiting: Set<QueuedCall>
}

interface QueuedCall {
  readonly length: number
  readonly begin: () => void
  begun: boolean
}

/** Lets host calls of one site begin, some at once and the rest in turn. */
export class HostCallLimiter {
  readonly #queues = new Map<string, KeyQueue>()
  readonly #responseMemory = new MemoryBudget(RESPONSE_MEMORY)

  /** Undefined when too much waits already: then `begin` is not called. The lease that it is given lasts as long as the permit. */
  acquire(
    { siteId, name, argument }: HostCallRequest,
    begin: (memory: MemoryLease) => void,
  ): HostCallPermit | undefined {
    const key = `${name} ${siteId}`
    const queue = this.#queues.get(key) ?? emptyQueue(MAX_RUNNING[name] ?? Infinity)
    const memory = this.#responseMemory.lease(siteId)
    const queued = { length: argument.length, begin: () => begin(memory), begun: false }
    if (!fits(queue, queued) && queue.waitingLength + queued.length > MAX_WAITING_LENGTH) {
      return undefined
    }
    queue.waiting.add(queued)
    queue.waitingLength += queued.length
    this.#queues.set(key, queue)
    beginNext(queue)
    let left = false
    return {
      release: () => {
        if (left) return
        left = true
        memory.release()
        this.#leave(key, queue, queued)
      },
    }
  }

  #leave(key: string, queue: KeyQueue, queued: QueuedCall): void {
    if (queued.begun) {
      queue.running -= 1
      queue.runningLength -= queued.length
    } else {
      unqueue(queue, queued)
    }
    beginNext(queue)
    if (queue.running === 0 && queue.waiting.size === 0) this.#queues.delete(key)
  }
}

const emptyQueue = (permits: number): KeyQueue => ({
  permits,
  running: 0,
  runningLength: 0,
  waitingLength: 0,
  waiting: new Set(),
})

const fits = ({ permits, running, runningLength }: KeyQueue, { length }: QueuedCall): boolean =>
  running < permits &&
  (running === 0 || permits === Infinity || runningLength + length <= MAX_RUNNING_LENGTH)

/** In the order in which they came. */
function beginNext(queue: KeyQueue): void {
  for (const queued of queue.waiting) {
    if (!fits(queue, queued)) return
    unqueue(queue, queued)
    queue.running += 1
    queue.runningLength += queued.length
    queued.begun = true
    queued.begin()
  }
}

function unqueue(queue: KeyQueue, queued: QueuedCall): void {
  queue.waiting.delete(queued)
  queue.waitingLength -= queued.length
}
