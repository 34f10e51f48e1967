import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace'
import { expect, test, vi } from 'vitest'

import { LoggingSpanExporter } from './logging-span-exporter.ts'

const SPANS = [{}, {}] as ReadableSpan[]
type Result = Parameters<Parameters<SpanExporter['export']>[1]>[0]

test('says once that a collector takes nothing, and how much was lost when it takes spans again', () => {
  const results: Result[] = []
  const ended = vi.fn<() => Promise<void>>(async () => {})
  const collector: SpanExporter = {
    export: (_spans, done) => done(results.shift() ?? { code: 0 }),
    shutdown: ended,
  }
  const [warn, info] = [vi.fn<(...line: unknown[]) => void>(), vi.fn<() => void>()]
  const exporter = new LoggingSpanExporter(collector, { warn, info })
  const gone = new Error('connect ECONNREFUSED')
  const done = vi.fn<(result: Result) => void>()

  exporter.export(SPANS, done)
  expect([warn, info].map(({ mock }) => mock.calls.length)).toEqual([0, 0])

  results.push({ code: 1, error: gone }, { code: 1 })
  exporter.export(SPANS, done)
  exporter.export(SPANS, done)
  expect(warn.mock.calls).toEqual([[{ err: gone }, 'the collector takes no spans']])
  exporter.export(SPANS, done)
  exporter.export(SPANS, done)
  expect(info.mock.calls).toEqual([[{ lost: 4 }, 'the collector takes spans again']])
  expect(done.mock.calls.map(([{ code }]) => code)).toEqual([0, 1, 1, 0, 0])

  results.push({ code: 1 })
  exporter.export(SPANS, done)
  expect(warn).toHaveBeenCalledTimes(2)
  void exporter.shutdown()
  expect(ended).toHaveBeenCalledOnce()
})
