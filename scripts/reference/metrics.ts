import { METRICS } from '#http/metrics/routes.ts'

/** The page of all metrics, from their declarations. */
export function metricsPage(): string {
  const lines = METRICS.map(({ name, type, labels, help }) => {
    const shown = labels.map((label) => `\`${label}\``).join(', ')
    return `- **\`${name}\`** (${type}${shown && `; by ${shown}`}): ${help}`
  })
  return `# Metrics

\`/metrics\` at \`OPERATOR_PORT\` has these for Prometheus: [watch](../how-to/watch.md). Histograms have buckets from half a millisecond to a minute.

${lines.join('\n')}
`
}
