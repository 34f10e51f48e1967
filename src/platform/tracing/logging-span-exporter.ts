import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace'

import type { Logger } from '#platform/log/logger.ts'

type ExportDone = Parameters<SpanExporter['export']>[1]

/** Says in the log when a collector begins to take no spans, and when it does again: the library would say nothing. */
export class LoggingSpanExporter implements SpanExporter {
  readonly #exporter: SpanExporter
  readonly #logger: Pick<Logger, 'warn' | 'info'>
  #lost = 0

  constructor(exporter: SpanExporter, logger: Pick<Logger, 'warn' | 'info'>) {
    this.#exporter = exporter
    this.#logger = logger
  }

  export(spans: ReadableSpan[], done: ExportDone): void {
    this.#exporter.export(spans, (result) => {
      if (result.error === undefined && result.code === 0) this.#taken()
      else this.#notTaken(spans.length, result.error)
      done(result)
    })
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown()
  }

  async forceFlush(): Promise<void> {
    await this.#exporter.forceFlush?.()
  }

  #taken(): void {
    if (this.#lost > 0) this.#logger.info({ lost: this.#lost }, 'the collector takes spans again')
    this.#lost = 0
  }

  #notTaken(count: number, error: unknown): void {
    if (this.#lost === 0) this.#logger.warn({ err: error }, 'the collector takes no spans')
    this.#lost += count
  }
}
