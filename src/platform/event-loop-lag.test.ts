import { expect, test, vi } from 'vitest'

import { EventLoopLag } from './event-loop-lag.ts'

test('a loop that is blocked is seen', async () => {
  using lag = new EventLoopLag()
  const until = performance.now() + 350
  while (performance.now() < until);
  const counts = () =>
    new Map(lag.lags.read().buckets.map(({ seconds, count }) => [seconds, count]))
  await vi.waitUntil(() => counts().get(Infinity) !== 0)
  expect(counts().get(0.1)).toBe(0)
})
