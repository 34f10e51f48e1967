import { MemoryBudget, type MemoryLease } from '#base/memory-budget.ts'
import type { HostCallName } from '#sandbox/protocol.ts'

/** Host calls of one site at work, or answered and not yet handed to the worker. What they hold is bounded by that. */
const AT_ONCE: Readonly<Partial<Record<HostCallName, number>>> = {
  table: 16,
  // An object may take megabytes.
  bucket: 8,
  sendEmail: 4,
  // They wait for others, mostly.
  fetch: 64,
  // Operations have a queue of their own, and wait for host calls of theirs.
}
/** Of the arguments of one site's host calls of one name that wait for a place, in UTF-16 units. */
const MAX_WAITING_LENGTH = 64 * 1024 * 1024
/** The same of those at work, except that one always may be. */
const MAX_LENGTH_AT_WORK = 64 * 1024 * 1024

/** What the responses to host calls may hold in the service until they are handed to the site's code. */
const RESPONSE_MEMORY = {
  maxBytes: 256 * 1024 * 1024,
  maxBytesPerKey: 64 * 1024 * 1024,
  // Large responses of some sites leave a way in for sites that hold nothing yet.
  reservedBytes: 64 * 1024 * 1024,
}

interface AskedCall {
  readonly siteId: string
  readonly name: HostCallName
  readonly argument: string
}

/** What a host call holds while it is at work. To leave a second time does nothing. */
export interface HostCallPermit {
  release(): void
}

interface Line {
  /** The most of them. */
  readonly places: number
  atWork: number
  lengthAtWork: number
  waitingLength: number
  readonly waiting: Set<Ticket>
}

interface Ticket {
  readonly length: number
  readonly begin: () => void
  begun: boolean
}

/** Lets host calls of one site begin, some at once and the rest in turn. */
export class HostCallLimiter {
  readonly #lines = new Map<string, Line>()
  readonly #responseMemory = new MemoryBudget(RESPONSE_MEMORY)

  /** Undefined when too much waits already: then `begin` is not called. What it is given holds for as long as the place. */
  acquire(
    { siteId, name, argument }: AskedCall,
    begin: (memory: MemoryLease) => void,
  ): HostCallPermit | undefined {
    const key = `${name} ${siteId}`
    const line = this.#lines.get(key) ?? emptyLine(AT_ONCE[name] ?? Infinity)
    const memory = this.#responseMemory.lease(siteId)
    const ticket = { length: argument.length, begin: () => begin(memory), begun: false }
    if (!fits(line, ticket) && line.waitingLength + ticket.length > MAX_WAITING_LENGTH) {
      return undefined
    }
    line.waiting.add(ticket)
    line.waitingLength += ticket.length
    this.#lines.set(key, line)
    beginNext(line)
    let left = false
    return {
      release: () => {
        if (left) return
        left = true
        memory.release()
        this.#leave(key, line, ticket)
      },
    }
  }

  #leave(key: string, line: Line, ticket: Ticket): void {
    if (ticket.begun) {
      line.atWork -= 1
      line.lengthAtWork -= ticket.length
    } else {
      unqueue(line, ticket)
    }
    beginNext(line)
    if (line.atWork === 0 && line.waiting.size === 0) this.#lines.delete(key)
  }
}

const emptyLine = (places: number): Line => ({
  places,
  atWork: 0,
  lengthAtWork: 0,
  waitingLength: 0,
  waiting: new Set(),
})

const fits = ({ places, atWork, lengthAtWork }: Line, { length }: Ticket): boolean =>
  atWork < places &&
  (atWork === 0 || places === Infinity || lengthAtWork + length <= MAX_LENGTH_AT_WORK)

/** In the order in which they came. */
function beginNext(line: Line): void {
  for (const ticket of line.waiting) {
    if (!fits(line, ticket)) return
    unqueue(line, ticket)
    line.atWork += 1
    line.lengthAtWork += ticket.length
    ticket.begun = true
    ticket.begin()
  }
}

function unqueue(line: Line, ticket: Ticket): void {
  line.waiting.delete(ticket)
  line.waitingLength -= ticket.length
}
