import fc from 'fast-check'
import { expect, test } from 'vitest'

import { windowOf } from './row-window.ts'

test('a short list is rendered whole', () => {
  expect(windowOf({ count: 200, rowHeight: 44, top: 5000, height: 800 })).toEqual({
    from: 0,
    to: 200,
    before: 0,
    after: 0,
  })
})

test('a long list is rendered where the window is, and as high as all of it', () => {
  const list = fc.record({
    count: fc.integer({ min: 201, max: 100_000 }),
    rowHeight: fc.integer({ min: 20, max: 200 }),
    height: fc.integer({ min: 100, max: 4000 }),
    part: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  fc.assert(
    fc.property(list, ({ count, rowHeight, height, part }) => {
      const top = Math.floor(part * Math.max(0, count * rowHeight - height))
      const { from, to, before, after } = windowOf({ count, rowHeight, top, height })
      expect(before + (to - from) * rowHeight + after).toBe(count * rowHeight)
      expect(before).toBeLessThanOrEqual(top)
      expect(to * rowHeight).toBeGreaterThanOrEqual(Math.min(top + height, count * rowHeight))
      expect(to - from).toBeLessThan(height / rowHeight + 45)
    }),
  )
})
