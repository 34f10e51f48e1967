import { type TraceContext, parseTraceContext } from '#base/trace-context.ts'
import type { HttpServerOptions } from '#platform/http-server/http-server.ts'
import type { RequestTrace, RequestTraces } from '#platform/tracing/request-traces.ts'
import type { Span, Tracer } from '#platform/tracing/tracer.ts'

import { pathOf } from './url-path.ts'

type Fetch = HttpServerOptions['fetch']

const MAX_NAME = 64
const MAX_PATH = 512
const MAX_HOST = 255

/** On the request itself, until it has an id. */
const TRACE = Symbol('trace')

interface Traced {
  [TRACE]?: (requestId: string) => void
}

/** Tells the trace of a request, if it is part of one, which id the request has been given. */
export function nameTraceOf(request: Request & Traced, requestId: string): void {
  request[TRACE]?.(requestId)
}

export interface TracingDeps {
  readonly requestTraces: Pick<RequestTraces, 'add'>
  readonly tracer: Tracer | undefined
}

/**
 * `fetch`, for requests that may come with `traceparent`: from then on it is known of which trace they are. With a tracer each
 * that is recorded is a span.
 */
export const tracing =
  ({ requestTraces, tracer }: TracingDeps, fetch: Fetch): Fetch =>
  (request: Request & Traced, peer) => {
    const incoming = traceContextOf(request)
    const span = tracer && beginSpan(tracer, request, incoming)
    const context = span?.context ?? incoming
    if (context === undefined) return fetch(request, peer)
    const trace: RequestTrace = { context, isHandedOn: incoming !== undefined }
    let id = ''
    request[TRACE] = (requestId) => {
      id = requestId
      requestTraces.add(requestId, trace)
    }
    const answer = fetch(request, peer)
    if (span !== undefined) void endSpan(span, answer, () => id)
    return answer
  }

function beginSpan(
  tracer: Tracer,
  { method, url, headers }: Request,
  parent: TraceContext | undefined,
): Span | undefined {
  const path = pathOf(url)
  return tracer.begin({
    // One name for what has one purpose: the path says which.
    name: `${method} ${/^\/[^/]*/.exec(path)?.[0].slice(0, MAX_NAME) ?? '/'}`,
    kind: 'server',
    parent,
    attributes: {
      'http.request.method': method,
      'url.path': path.slice(0, MAX_PATH),
      'server.address': (headers.get('host') ?? '').slice(0, MAX_HOST),
    },
  })
}

/** Once the answer has begun: a stream may go on long after. */
async function endSpan(
  span: Span,
  answer: Response | Promise<Response>,
  requestId: () => string,
): Promise<void> {
  const status = await statusOf(answer)
  const attributes = { 'http.response.status_code': status, 'croft.request_id': requestId() }
  span.end(attributes, status >= 500)
}

const statusOf = async (answer: Response | Promise<Response>): Promise<number> => {
  try {
    return (await answer).status
  } catch {
    // The server answers that for an error that was thrown.
    return 500
  }
}

function traceContextOf({ headers }: Request): TraceContext | undefined {
  const traceparent = headers.get('traceparent')
  return traceparent === null
    ? undefined
    : parseTraceContext(traceparent, headers.get('tracestate'))
}
