import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'

import { METRICS } from './routes.ts'

const ROOT = join(import.meta.dirname, '../../..')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

/** The series that there are, by their names. */
const SERIES = new Set(
  METRICS.flatMap(({ name, type }) =>
    type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  ),
)

const seriesIn = (text: string): string[] => [
  ...new Set(text.match(/\b(?:croft|process)_[a-z_]+\b/g)),
]

interface AlertRules {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string }[]
  }[]
}

const alertRules = () => {
  const { groups } = parse(read('deploy/prometheus/alerts.yml')) as AlertRules
  return groups.flatMap(({ rules }) => rules)
}

interface Dashboard {
  readonly panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[]
}

const dashboardExpressions = () => {
  const { panels } = JSON.parse(read('deploy/grafana/croft.json')) as Dashboard
  return panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
}

describe('the metrics', () => {
  test('have names of their own, units at the end, and a sentence each', () => {
    expect(new Set(METRICS.map(({ name }) => name)).size).toBe(METRICS.length)
    for (const { name, type, help } of METRICS) {
      expect(name).toMatch(/^(croft|process)_[a-z_]+$/)
      expect(name.endsWith('_total'), name).toBe(type === 'counter')
      expect(type !== 'histogram' || name.endsWith('_seconds'), name).toBe(true)
      expect(help, name).toMatch(/\.$/)
    }
  })

  test('are what the alerts ask for, and the tests of those', () => {
    const rules = alertRules()
    expect(rules.length).toBeGreaterThan(20)
    for (const { alert, expr } of rules) {
      const used = seriesIn(expr)
      expect(used.length + Number(expr.startsWith('up{')), alert).toBeGreaterThan(0)
      expect(
        used.filter((name) => !SERIES.has(name)),
        alert,
      ).toEqual([])
    }
    const tests = read('deploy/prometheus/alerts.test.yml')
    expect(seriesIn(tests).filter((name) => !SERIES.has(name))).toEqual([])
    expect(rules.filter(({ alert }) => !tests.includes(`alertname="${alert}"`))).toEqual([])
  })

  test('are what the dashboard shows, all of them', () => {
    const used = new Set(dashboardExpressions().flatMap(seriesIn))
    expect([...used].filter((name) => !SERIES.has(name))).toEqual([])
    const shown = (name: string) => [name, `${name}_bucket`].some((series) => used.has(series))
    const hidden = METRICS.filter(({ name }) => !shown(name)).map(({ name }) => name)
    expect(hidden).toEqual(['process_start_time_seconds'])
  })

  test('are in the reference with their help texts, and what to do at each alert is in its guide', () => {
    const reference = read('docs/reference/metrics.md')
    for (const { name, labels, help } of METRICS) {
      const row = reference.split('\n').find((line) => line.startsWith(`- **\`${name}\`** `))
      expect(row, name).toContain(help)
      for (const label of labels) expect(row, name).toContain(`\`${label}\``)
    }
    const guide = read('docs/how-to/on-call.md')
    for (const { alert } of alertRules()) expect(guide).toContain(`\n### ${alert}\n`)
  })
})
