import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { QueueWarnings } from './queue-warnings.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout'] })
  // To lru-cache the very first moment means no time at all.
  vi.advanceTimersByTime(1)
})
afterEach(() => void vi.useRealTimers())

const backlog = (name: string, jobs: number) => ({
  message: `Warning: large queue backlog: queue "${name}" has ${jobs} jobs in the created or retry state`,
  data: { name, queuedCount: jobs },
})

function warningsOf(ready: (queue: string) => Promise<number>) {
  const logged: string[] = []
  const log = { warn: ({ warning }: { warning: string }) => logged.push(warning) }
  return { logged, warnings: new QueueWarnings({ log, ready }) }
}

test('A warning that is repeated with other numbers is logged once in ten minutes, each queue by itself', async () => {
  const { logged, warnings } = warningsOf(async () => 10_001)
  for (let jobs = 10_001; jobs < 10_050; jobs += 1) {
    await warnings.warn(backlog('outbound-mail', jobs))
    vi.advanceTimersByTime(6000)
  }
  await warnings.warn(backlog('job-run', 20_000))
  expect(logged).toEqual(
    [backlog('outbound-mail', 10_001), backlog('job-run', 20_000)].map(({ message }) => message),
  )
  vi.advanceTimersByTime(10 * 60_000)
  await warnings.warn(backlog('outbound-mail', 9))
  expect(logged).toHaveLength(3)
})

test('A queue of jobs that are due later is none to warn of, whatever else is', async () => {
  const { logged, warnings } = warningsOf(async (queue) => (queue === 'job-run' ? 10_000 : 10_001))
  await warnings.warn(backlog('job-run', 30_000))
  expect(logged).toEqual([])
  await warnings.warn(backlog('outbound-mail', 30_000))
  await warnings.warn({ message: 'Warning: slow query', data: { elapsed: 31 } })
  expect(logged).toEqual([backlog('outbound-mail', 30_000).message, 'Warning: slow query'])
})

test('A backlog is warned of where the database does not say what it is made of', async () => {
  const { logged, warnings } = warningsOf(() => Promise.reject(new Error('away')))
  await warnings.warn(backlog('job-run', 30_000))
  expect(logged).toHaveLength(1)
})
