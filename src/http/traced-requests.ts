import { type TraceContext, parseTraceContext } from '#base/trace-context.ts'
import type { HttpServerOptions } from '#platform/http-server/http-server.ts'
import type { RequestTrace, RequestTraces } from '#platform/tracing/request-traces.ts'

type Fetch = HttpServerOptions['fetch']

/** On the request itself, until it has an id. */
const TRACE = Symbol('trace')

interface Traced {
  [TRACE]?: (requestId: string) => void
}

/** Tells the trace of a request, if it is part of one, which id the request has been given. */
export function nameTraceOf(request: Request & Traced, requestId: string): void {
  request[TRACE]?.(requestId)
}

/** `fetch`, for requests that may come with `traceparent`: from then on `traces` knows of them. */
export const tracing =
  (traces: Pick<RequestTraces, 'add'>, fetch: Fetch): Fetch =>
  (request: Request & Traced, peer) => {
    const context = traceContextOf(request)
    if (context !== undefined) {
      const trace: RequestTrace = { context, isHandedOn: true }
      request[TRACE] = (requestId) => traces.add(requestId, trace)
    }
    return fetch(request, peer)
  }

function traceContextOf({ headers }: Request): TraceContext | undefined {
  const traceparent = headers.get('traceparent')
  return traceparent === null
    ? undefined
    : parseTraceContext(traceparent, headers.get('tracestate'))
}
