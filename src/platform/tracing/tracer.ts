import type { TraceContext } from '#base/trace-context.ts'
import type { TracingConfig } from '#config/config.ts'
import type { Logger } from '#platform/log/logger.ts'

/** Names and values of OpenTelemetry's conventions. */
export type SpanAttributes = Readonly<Record<string, string | number>>

export interface NewSpan {
  readonly name: string
  readonly kind: 'server' | 'client'
  /** Undefined where the trace begins with it. */
  readonly parent: TraceContext | undefined
  readonly attributes: SpanAttributes
}

/** An operation with a duration, which is exported once it is over. */
export interface Span {
  /** The context for requests within it. */
  readonly context: TraceContext
  end(attributes: SpanAttributes, isFailed: boolean): void
}

export interface Tracer extends AsyncDisposable {
  /** Undefined for what is not recorded: of a trace that its client does not record, or one that is not chosen here. */
  begin(span: NewSpan): Span | undefined
}

/** A tracer for that collector; what it is made of is loaded only where there is one. */
export async function openTracer(
  config: TracingConfig,
  deps: { readonly version: string; readonly logger: Logger },
): Promise<Tracer> {
  const { OtlpTracer } = await import('./otlp-tracer.ts')
  return new OtlpTracer(config, deps)
}
