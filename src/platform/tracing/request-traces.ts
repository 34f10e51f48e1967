import { LRUCache } from 'lru-cache'

import type { TraceContext } from '#base/trace-context.ts'

/** Of this many requests that are part of a trace it is known which, the latest ones. */
const MAX_KNOWN = 10_000

/** The place of one request in a trace. */
export interface RequestTrace {
  /** The context for requests that this one makes. */
  readonly context: TraceContext
  /** Whether its client began the trace: what was begun here stays here. */
  readonly isHandedOn: boolean
}

/** Which trace a request is part of, by its id: for log lines, and for what its functions ask of others. */
export class RequestTraces {
  readonly #known = new LRUCache<string, RequestTrace>({ max: MAX_KNOWN })

  add(requestId: string, trace: RequestTrace): void {
    this.#known.set(requestId, trace)
  }

  of(requestId: string): RequestTrace | undefined {
    return this.#known.get(requestId)
  }
}
