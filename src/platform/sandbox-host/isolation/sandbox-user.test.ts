import { expect, test } from 'vitest'

import { sandboxUid } from './sandbox-user.ts'

test('each data folder has a user of its own, always the same, out of unassigned ones', () => {
  const uids = Array.from({ length: 200 }, (_, index) => sandboxUid(`/data/${index}`))
  expect(Math.min(...uids)).toBeGreaterThanOrEqual(62_000)
  expect(Math.max(...uids)).toBeLessThan(64_000)
  expect(new Set(uids).size).toBeGreaterThan(150)
  expect(sandboxUid('/data/1')).toBe(uids[1])
})
