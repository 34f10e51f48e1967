import type { HostCallName } from './sandbox.ts'

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

interface AskedCall {
  readonly siteId: string
  readonly name: HostCallName
  readonly argument: string
}

/** What a host call holds while it is at work. To leave a second time does nothing. */
export interface Place {
  leave(): void
}

interface Line {
  atWork: number
  waitingLength: number
  readonly waiting: Set<Ticket>
}

interface Ticket {
  readonly length: number
  readonly begin: () => void
}

/** Lets host calls of one site begin, some at once and the rest in turn. */
export class HostCallGate {
  readonly #lines = new Map<string, Line>()

  /** Undefined when too much waits already: then `begin` is not called. */
  enter({ siteId, name, argument }: AskedCall, begin: () => void): Place | undefined {
    const most = AT_ONCE[name] ?? Infinity
    const key = `${name} ${siteId}`
    const line = this.#lines.get(key) ?? { atWork: 0, waitingLength: 0, waiting: new Set() }
    const ticket = { length: argument.length, begin }
    if (line.atWork < most) {
      line.atWork += 1
      this.#lines.set(key, line)
      begin()
    } else if (line.waitingLength + ticket.length > MAX_WAITING_LENGTH) {
      return undefined
    } else {
      line.waiting.add(ticket)
      line.waitingLength += ticket.length
    }
    let left = false
    return {
      leave: () => {
        if (left) return
        left = true
        if (!unqueued(line, ticket)) this.#next(key, line)
      },
    }
  }

  #next(key: string, line: Line): void {
    const [next] = line.waiting
    if (next) {
      unqueued(line, next)
      next.begin()
      return
    }
    line.atWork -= 1
    if (line.atWork === 0) this.#lines.delete(key)
  }
}

/** False when it does not wait any more. */
function unqueued(line: Line, ticket: Ticket): boolean {
  if (!line.waiting.delete(ticket)) return false
  line.waitingLength -= ticket.length
  return true
}
