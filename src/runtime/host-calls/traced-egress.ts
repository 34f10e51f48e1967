import { type TraceContext, traceHeaders } from '#base/trace-context.ts'
import type {
  Egress,
  EgressPolicy,
  EgressRequest,
  EgressResponse,
} from '#platform/egress/egress.ts'
import type { RequestTraces } from '#platform/tracing/request-traces.ts'
import type { Span, Tracer } from '#platform/tracing/tracer.ts'

const TRACE_HEADERS: ReadonlySet<string> = new Set(['traceparent', 'tracestate'])

export interface TracedEgressDeps {
  readonly egress: Egress
  readonly requestTraces: Pick<RequestTraces, 'of'>
  readonly tracer: Tracer | undefined
}

/** The way out for site code, in the trace of the request that set its call off. */
export class TracedEgress {
  readonly #deps: TracedEgressDeps

  constructor(deps: TracedEgressDeps) {
    this.#deps = deps
  }

  fetch(
    requestId: string,
    request: EgressRequest,
    policy: EgressPolicy,
    signal: AbortSignal,
  ): Promise<EgressResponse> {
    const { egress, requestTraces, tracer } = this.#deps
    const trace = requestTraces.of(requestId)
    if (trace === undefined) return egress.fetch(request, policy, signal)
    const span = tracer?.begin({
      name: request.method,
      kind: 'client',
      parent: trace.context,
      attributes: {
        'http.request.method': request.method,
        'server.address': URL.parse(request.url)?.hostname ?? '',
      },
    })
    const sent = trace.isHandedOn ? inTrace(request, span?.context ?? trace.context) : request
    const answer = egress.fetch(sent, policy, signal)
    return span === undefined ? answer : ended(span, answer)
  }
}

/** Unless the function says itself in which. */
function inTrace(request: EgressRequest, context: TraceContext): EgressRequest {
  const { headers } = request
  if (headers.some(([name]) => TRACE_HEADERS.has(name.toLowerCase()))) return request
  return { ...request, headers: [...headers, ...traceHeaders(context)] }
}

async function ended(span: Span, answer: Promise<EgressResponse>): Promise<EgressResponse> {
  try {
    const response = await answer
    span.end({ 'http.response.status_code': response.status }, response.status >= 400)
    return response
  } catch (error) {
    span.end({ 'error.type': 'no_response' }, true)
    throw error
  }
}
