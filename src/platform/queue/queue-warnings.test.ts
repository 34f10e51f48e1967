import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { QueueWarnings } from './queue-warnings.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout'] })
  // To lru-cache the very first moment means no time at all.
  vi.advanceTimersByTime(1)
})
afterEach(() => void vi.useRealTimers())

const backlog = (queue: string, jobs: number) => ({
  message: `Warning: large queue backlog: queue "${queue}" has ${jobs} jobs in the created or retry state`,
})

test('A warning that is repeated with other numbers is logged once in ten minutes, each queue by itself', () => {
  const logged: string[] = []
  const warnings = new QueueWarnings({
    warn: ({ warning }: { warning: string }) => logged.push(warning),
  })
  for (let jobs = 10_001; jobs < 10_050; jobs += 1) {
    warnings.warn(backlog('outbound-mail', jobs))
    vi.advanceTimersByTime(6000)
  }
  warnings.warn(backlog('job-run', 20_000))
  expect(logged).toEqual(
    [backlog('outbound-mail', 10_001), backlog('job-run', 20_000)].map(({ message }) => message),
  )
  vi.advanceTimersByTime(10 * 60_000)
  warnings.warn(backlog('outbound-mail', 9))
  expect(logged).toHaveLength(3)
})
