import { expect, test } from 'vitest'

import {
  type Compared,
  compareFunctions,
  differenceText,
  functionsReport,
} from '#conformance/comparison/compare-functions.ts'
import { KNOWN_DIFFERENCES } from '#conformance/comparison/known-differences.ts'
import { builtSandbox } from '#test/built-sandbox.ts'
import { TestSandbox } from '#test/test-sandbox.ts'

const SAME = { outcome: '{}', stdout: 'a\n', stderr: '' }

test('function files give and print in the sandbox what they do in Deno, byte for byte', async () => {
  await using sandbox = await TestSandbox.start({}, {}, await builtSandbox())
  const results = await compareFunctions(sandbox)
  const different = results.filter(({ isSame }) => !isSame)
  const unknown = different.filter(({ reason }) => reason === undefined)
  expect(unknown.map(differenceText).join('\n')).toBe('')
  // A difference that is gone is not listed any more.
  expect(different.map(({ name }) => name)).toEqual(Object.keys(KNOWN_DIFFERENCES))
  expect(results.length).toBeGreaterThanOrEqual(200)
})

test('the report counts by folder and shows what differs', () => {
  const results: Compared[] = [
    { name: 'url/a.js', deno: SAME, ours: SAME, isSame: true, reason: undefined },
    {
      name: 'url/b.js',
      deno: SAME,
      ours: { ...SAME, stdout: 'b\n' },
      isSame: false,
      reason: 'because',
    },
  ]
  const report = functionsReport(results)
  expect(report).toMatch(/^url +1 of +2$/m)
  expect(report).toContain(
    'url/b.js\n  known: because\n  stdout\n    deno a\n    ours b\n\n2 function files: 1 the same in Deno, 1 known differences, 0 others',
  )
})
