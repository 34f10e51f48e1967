import { Type } from '@sinclair/typebox'

import { AppError, invalid } from '#base/app-error.ts'
import { ClosedObject } from '#base/closed-object.ts'
import { databaseBusy } from '#base/database-busy.ts'
import { type TraceContext, traceHeaders } from '#base/trace-context.ts'
import type {
  EgressPolicy,
  EgressResponse,
  Egress,
  EgressRequest,
} from '#platform/egress/egress.ts'
import type { Logger } from '#platform/log/logger.ts'
import type { Counters } from '#platform/redis/counters.ts'
import type { HostCall } from '#platform/sandbox-host/sandbox.ts'
import type { RequestTraces } from '#platform/tracing/request-traces.ts'
import type { Span, Tracer } from '#platform/tracing/tracer.ts'
import type { Buckets } from '#runtime/buckets/buckets.ts'
import type { PublishedSites } from '#runtime/published/service.ts'
import { type RuntimeSettings, egressPolicy } from '#runtime/revisions/limits.ts'
import { parseShape } from '#runtime/shape.ts'
import type { Tables } from '#runtime/tables/tables.ts'

import { MailCalls } from './mail-calls.ts'
import { type CallOperation, NestedCalls } from './nested-calls.ts'
import type { SiteMail } from './site-mail.ts'
import { StoreCalls } from './store-calls.ts'

const MAX_HEADERS = 200

const HeaderPair = Type.Tuple([Type.String(), Type.String()])

const FetchArgument = ClosedObject({
  method: Type.String({ maxLength: 32 }),
  url: Type.String({ maxLength: 16 * 1024 }),
  headers: Type.Array(HeaderPair, { maxItems: MAX_HEADERS }),
  bodyBase64: Type.Optional(Type.String()),
  redirect: Type.Union([Type.Literal('follow'), Type.Literal('manual'), Type.Literal('error')]),
})

const TRACE_HEADERS: ReadonlySet<string> = new Set(['traceparent', 'tracestate'])

/** The operator's settings, for code that runs outside a revision. */
type SettingsOf = (siteId: string) => Promise<RuntimeSettings>

interface TracedEgressDeps {
  readonly egress: Egress
  readonly requestTraces: Pick<RequestTraces, 'of'>
  readonly tracer: Tracer | undefined
}

/** Answers what site code asks of the service. Every name is one row of a table; each checks what the site was granted. */
export class HostCalls {
  readonly #deps
  readonly #egress: TracedEgress
  readonly #table: Readonly<Record<HostCall['name'], (call: HostCall) => Promise<string>>>

  constructor(
    deps: TracedEgressDeps & {
      readonly published: PublishedSites
      readonly settingsOf: SettingsOf
      readonly logger: Logger
      readonly tables: Pick<Tables, 'perform'>
      readonly buckets: Pick<Buckets, 'perform'>
      readonly mail: SiteMail
      readonly counters: Counters
      readonly callOperation: CallOperation
    },
  ) {
    this.#deps = deps
    this.#egress = new TracedEgress(deps)
    const stores = new StoreCalls(deps)
    const mail = new MailCalls(deps)
    const nested = new NestedCalls(deps)
    this.#table = {
      fetch: (call) => this.#fetch(call),
      table: (call) => this.#expected(call, stores.table(call)),
      bucket: (call) => this.#expected(call, stores.bucket(call)),
      sendEmail: (call) => this.#expected(call, mail.send(call)),
      mailPart: (call) => this.#expected(call, mail.stage(call)),
      operation: (call) => this.#expected(call, nested.call(call)),
      http: ({ call, argument }) =>
        call.exchange?.ask(argument) ?? Promise.reject(new Error('This call answers no HTTP')),
    }
  }

  /** Answers with JSON text; a rejection reaches site code as an Error with its message, and its code if it is an `AppError`. */
  answer(call: HostCall): Promise<string> {
    // The name comes from an isolate: look for it among the table's own names only.
    const served = Object.hasOwn(this.#table, call.name) ? this.#table[call.name] : undefined
    return served
      ? served(call)
      : Promise.reject(new Error(`"${call.name}" is not served by this version`))
  }

  /** The log gets unexpected errors; site code only learns that one happened. */
  async #expected({ call, name }: HostCall, work: Promise<string>): Promise<string> {
    try {
      return await work
    } catch (error) {
      if (error instanceof AppError) throw error
      const busy = databaseBusy(error)
      if (busy) throw busy
      const { site, requestId } = call
      this.#deps.logger.error(
        { err: error, siteId: site.siteId, requestId, name },
        'host call failed',
      )
      throw new AppError('InternalError', 'Something went wrong on our side', { cause: error })
    }
  }

  async #fetch(call: HostCall): Promise<string> {
    const asked: unknown = JSON.parse(call.argument)
    refuseManyHeaders(asked)
    const request = parseShape(FetchArgument, asked, 'request')
    const { site, requestId } = call.call
    const policy = { ...(await this.#policyOf(site.siteId)), memory: call.memory }
    return textOf(await this.#egress.fetch(requestId, request, policy, call.signal))
  }

  /** The policy that is current, also for code of an older revision that is still running. */
  async #policyOf(siteId: string): Promise<EgressPolicy> {
    const site = this.#deps.published.peek(siteId)
    return site?.egress ?? egressPolicy((await this.#deps.settingsOf(siteId)).egress.allow)
  }
}

/** As JSON: a body in base64 needs no escapes, and being looked through for them it would be held twice. */
function textOf({ bodyBase64, ...head }: EgressResponse): string {
  return `{"bodyBase64":"${bodyBase64}",${JSON.stringify(head).slice(1)}`
}

/** Before each of them is looked at: there may be a million. */
function refuseManyHeaders(asked: unknown): void {
  if (typeof asked !== 'object' || asked === null || !('headers' in asked)) return
  const { headers } = asked
  if (Array.isArray(headers) && headers.length > MAX_HEADERS) {
    throw invalid('request.headers', `must be at most ${MAX_HEADERS}`)
  }
}

/** The way out for site code, in the trace of the request that set its call off. */
class TracedEgress {
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
