import { expect, test } from 'vitest'

import { failureLines, reportTable } from './report.ts'
import { Tally } from './tally.ts'

const outcome = (passed: readonly string[], failed: readonly string[]) => ({
  findings: [
    ...passed.map((name) => ({ name, outcome: 'passed', message: '' }) as const),
    ...failed.map((name) => ({ name, outcome: 'failed', message: 'No\nreason' }) as const),
  ],
  ending: 'completed' as const,
  message: '',
})

function resultOf(group: string) {
  const [ours, beside] = [new Tally(), new Tally()]
  ours.add('f.js', outcome(['a', 'b'], ['c']))
  beside.add('f.js', outcome(['b', 'c', 'd'], ['a']))
  ours.addMissing(beside)
  return { group, files: 1, ours, beside }
}

test('the table has a line for each group, and their sum', () => {
  const lines = reportTable([resultOf('url'), resultOf('dom')], 'node').split('\n')
  expect(lines.map((line) => line.split(/\s{2,}/))).toEqual([
    ['', 'files', 'passed', 'total', 'skipped', 'node', "of node's", 'share'],
    ['url', '1', '2', '4', '0', '3', '1', '33.3 %'],
    ['dom', '1', '2', '4', '0', '3', '1', '33.3 %'],
    ['together', '2', '4', '8', '0', '6', '2', '33.3 %'],
  ])
})

test('failures are those that pass beside, one to a line, also what was never reached', () => {
  expect(failureLines([resultOf('url')])).toEqual([
    'f.js: c: No reason',
    'f.js: d: Never came to its end',
  ])
})
