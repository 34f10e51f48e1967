import type { DurationCounts } from '#base/duration-histogram.ts'

export type MetricLabels = Readonly<Record<string, string>>

export type MetricSample =
  | { readonly labels: MetricLabels; readonly value: number }
  | { readonly labels: MetricLabels; readonly durations: DurationCounts }

/** One metric of `/metrics`: a name, what it says, and how it is read from `Source`. */
export interface Metric<Source> {
  /** With the unit at its end, `_total` for what only grows. */
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  /** One sentence, which the docs repeat. */
  readonly help: string
  /** The names of its labels. Their values are closed lists: never a site, an operation, an address. */
  readonly labels: readonly string[]
  read(source: Source): Iterable<MetricSample>
}

export const gauge = (value: number, labels: MetricLabels = {}): MetricSample => ({ labels, value })

/** A sample for each count, under one label. */
export const tallied = (
  label: string,
  counts: Iterable<readonly [string, number]>,
  others: MetricLabels = {},
): MetricSample[] =>
  Array.from(counts, ([name, value]) => ({ labels: { ...others, [label]: name }, value }))

/** The same under two. */
export const talliedTwice = (
  [row, column]: readonly [string, string],
  counts: Iterable<readonly [string, string, number]>,
): MetricSample[] =>
  Array.from(counts, ([one, other, value]) => ({ labels: { [row]: one, [column]: other }, value }))

export const lasting = (
  histogram: { read(): DurationCounts },
  labels: MetricLabels = {},
): MetricSample => ({ labels, durations: histogram.read() })
