import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { parseBenchOptions } from '#bench/bench-options.ts'
import { Measurements } from '#bench/measurements.ts'
import { resultsFile } from '#bench/results-file.ts'
import { resultsText } from '#bench/results-table.ts'

import { performancePage } from './page.ts'
import { parseResults } from './results.ts'

const ROOT = join(import.meta.dirname, '../..')
const read = (path: string): Promise<string> => readFile(join(ROOT, path), 'utf8')

const SAMPLE = {
  perSecond: 20_000,
  p50Ms: 1.25,
  p99Ms: 4,
  cpuUsPerRequest: 19.96,
  othersShare: -0.004,
  generatorShare: 0.2,
  errors: {},
  firstFault: undefined,
}
const OCCASION = { day: '2026-01-31', machine: '2 cores', versions: 'Croft 1, workerd 2' }

/** A results file as a run with these rates would write it. */
function fileOf(workerd: number, errors: Readonly<Record<string, number>> = {}): string {
  const measured = new Measurements()
  measured.add('workerd', 32, { ...SAMPLE, perSecond: workerd })
  measured.add('warm', 32, { ...SAMPLE, errors })
  const cold = { firstMs: [3, 4, 5], secondMs: [1] }
  return resultsFile(resultsText({ measured, cold }), parseBenchOptions([]), OCCASION)
}

test('the page about performance is what the results make', async () => {
  const made = performancePage(await read('bench/RESULTS.md'))
  expect(await read('docs/explanation/performance.md'), 'run "npm run bench:page"').toBe(made)
})

test('what the bench writes is read back', () => {
  const { facts, sections, faults } = parseResults(fileOf(8000))
  expect(Object.fromEntries(facts)).toMatchObject({ Day: '2026-01-31', Machine: '2 cores' })
  expect(sections.map(({ words }) => words)).toEqual([
    'A small JSON job',
    'A site that was just published',
    'Aims',
  ])
  expect(sections[0]?.rows).toEqual([
    ['workerd', '32', '8000', '1.00', '1.250', '4.00', '20.0', '-0 %'],
    ['Croft, warm operation', '32', '20000', '2.50', '1.250', '4.00', '20.0', '-0 %'],
  ])
  expect(faults).toEqual([])
})

test('the page has the figures, the aims and what is not clean', () => {
  const page = performancePage(fileOf(8001, { Timeout: 3 }))
  expect(page).toContain('- Versions: Croft 1, workerd 2')
  expect(page).toMatch(/\| Croft, warm operation\s+\|\s+32 \|\s+20000 \|\s+2\.50 \|/)
  expect(page).toMatch(/warm operation, CPU of a call at 32 connections\s+\|\s+19\.96 µs/)
  expect(page).toMatch(/warm operation \/ workerd, requests\/s at 32.*\| +MISS \|/)
  expect(page).toContain(
    '## Not clean\n\n- NOT CLEAN: Croft, warm operation (warm) at 32: Timeout 3×',
  )
})

test('a row without a cell is not taken for another one', () => {
  const broken = fileOf(8000).replace(/^(workerd .*)\s+-0 %$/m, '$1')
  expect(() => parseResults(broken)).toThrow('A small JSON job')
})
