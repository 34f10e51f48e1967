import { expect, test } from 'vitest'

import { parseBenchOptions } from './bench-options.ts'
import { SUBJECTS } from './subject.ts'

test('everything is measured and written down where nothing else is asked', () => {
  expect(parseBenchOptions([])).toMatchObject({
    subjects: SUBJECTS,
    publishes: 40,
    writesResults: true,
  })
})

test('subjects are picked by name or by workload, and then nothing is written', () => {
  const options = parseBenchOptions(['--only', 'warm, 20kb'])
  expect(options.subjects).toEqual(['warm', 'bun-20kb', 'workerd-20kb', 'warm-20kb'])
  expect(options).toMatchObject({ publishes: 0, writesResults: false })
  expect(parseBenchOptions(['--only', 'cold'])).toMatchObject({ publishes: 40, subjects: [] })
})

test.each([
  [['--only', 'wram'], 'there is no "wram"'],
  [['--rounds', '0'], 'from 1 to 20'],
])('%j is refused', (args, message) => {
  expect(() => parseBenchOptions(args)).toThrow(message)
})
