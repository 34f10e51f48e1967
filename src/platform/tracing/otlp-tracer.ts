import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span as OtelSpan,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer as OtelTracer,
  trace,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { AlwaysOnSampler, BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'

import type { TraceContext } from '#base/trace-context.ts'
import { withFallback } from '#base/with-timeout.ts'
import type { TracingConfig } from '#config/config.ts'
import type { Logger } from '#platform/log/logger.ts'

import { LoggingSpanExporter } from './logging-span-exporter.ts'
import type { NewSpan, Span, SpanAttributes, Tracer } from './tracer.ts'

/** A collector that does not answer must not keep the process. */
const LAST_SPANS_MS = 3000
const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT } as const

/** Sends spans to a collector by OTLP over HTTP, in batches. What it does not take in time is dropped, and the log says so. */
export class OtlpTracer implements Tracer {
  readonly #provider: TracerProvider
  readonly #tracer: OtelTracer
  readonly #sampleRatio: number

  constructor(
    { endpoint, serviceName, sampleRatio }: TracingConfig,
    { version, logger }: { readonly version: string; readonly logger: Logger },
  ) {
    // Its other settings it reads from the environment itself: headers, certificates, timeouts.
    const exporter = new LoggingSpanExporter(
      new OTLPTraceExporter({ url: `${endpoint}/v1/traces` }),
      logger,
    )
    this.#sampleRatio = sampleRatio
    this.#provider = new TracerProvider({
      resource: resourceFromAttributes({ 'service.name': serviceName, 'service.version': version }),
      // What is recorded is decided here, before anything is made.
      sampler: new AlwaysOnSampler(),
      spanProcessors: [new BatchSpanProcessor({ exporter })],
    })
    this.#tracer = this.#provider.getTracer('croft', version)
  }

  begin({ name, kind, parent, attributes }: NewSpan): Span | undefined {
    const isRecorded = parent?.isSampled ?? Math.random() < this.#sampleRatio
    if (!isRecorded) return undefined
    const options = { kind: KINDS[kind], attributes: { ...attributes } satisfies Attributes }
    const span = this.#tracer.startSpan(name, options, contextOf(parent))
    return new RecordedSpan(span, parent?.state)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await withFallback(this.#provider.shutdown(), LAST_SPANS_MS, undefined)
  }
}

class RecordedSpan implements Span {
  readonly context: TraceContext
  readonly #span: OtelSpan

  constructor(span: OtelSpan, state: string | undefined) {
    const { traceId, spanId } = span.spanContext()
    this.context = { traceId, spanId, isSampled: true, state }
    this.#span = span
  }

  end(attributes: SpanAttributes, isFailed: boolean): void {
    this.#span.setAttributes(attributes)
    if (isFailed) this.#span.setStatus({ code: SpanStatusCode.ERROR })
    this.#span.end()
  }
}

function contextOf(parent: TraceContext | undefined): Context {
  if (parent === undefined) return ROOT_CONTEXT
  const { traceId, spanId } = parent
  const flags = { traceFlags: TraceFlags.SAMPLED, isRemote: true }
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, ...flags })
}
