import { expect, test } from 'vitest'

import { exceeds } from './rollback-rule.ts'

const rule = { enabled: true, failurePercent: 50, minCalls: 10 }

test.each([
  [10, 6, true],
  [10, 5, false],
  [9, 9, false],
  [1000, 501, true],
  [1000, 500, false],
  [0, 0, false],
])('%d calls of which %d fail are above half: %j', (calls, failures, expected) => {
  expect(exceeds({ calls, failures }, rule)).toBe(expected)
  expect(exceeds({ calls, failures }, { ...rule, enabled: false })).toBe(false)
})
