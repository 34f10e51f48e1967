import type { Metric, MetricLabels, MetricSample } from './metric.ts'

/** Prometheus's text format, version 0.0.4. */
export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** What the metrics say of `source` now. Leaves out one that cannot be read, and calls `failed`. */
export function exposition<Source>(
  metrics: readonly Metric<Source>[],
  source: Source,
  failed: (name: string, error: unknown) => void,
): string {
  const lines: string[] = []
  for (const metric of metrics) {
    try {
      lines.push(...familyLines(metric, [...metric.read(source)]))
    } catch (error) {
      failed(metric.name, error)
    }
  }
  return `${lines.join('\n')}\n`
}

function familyLines<Source>(
  { name, help, type }: Metric<Source>,
  samples: readonly MetricSample[],
): string[] {
  if (samples.length === 0) return []
  const head = [`# HELP ${name} ${escapedHelp(help)}`, `# TYPE ${name} ${type}`]
  return [...head, ...samples.flatMap((sample) => sampleLines(name, sample))]
}

function sampleLines(name: string, sample: MetricSample): string[] {
  const { labels } = sample
  if ('value' in sample) return [line(name, labels, sample.value)]
  const { buckets, sumSeconds } = sample.durations
  return [
    ...buckets.map(({ seconds, count }) =>
      line(`${name}_bucket`, { ...labels, le: numberText(seconds) }, count),
    ),
    line(`${name}_sum`, labels, sumSeconds),
    line(`${name}_count`, labels, buckets.at(-1)?.count ?? 0),
  ]
}

const line = (name: string, labels: MetricLabels, value: number): string =>
  `${name}${labelText(labels)} ${numberText(value)}`

function labelText(labels: MetricLabels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapedLabel(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

const numberText = (value: number): string =>
  Math.abs(value) === Infinity ? `${value > 0 ? '+' : '-'}Inf` : String(value)

const escapedHelp = (text: string): string =>
  text.replaceAll('\\', String.raw`\\`).replaceAll('\n', String.raw`\n`)

const escapedLabel = (text: string): string => escapedHelp(text).replaceAll('"', String.raw`\"`)
