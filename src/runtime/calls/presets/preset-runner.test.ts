import { expect, test } from 'vitest'

import { Limiter, type LimiterRefusal } from '#base/limiter.ts'
import type { SandboxFailure } from '#platform/sandbox-host/sandbox.ts'

import { failureOf } from './preset-runner.ts'

test.each<[LimiterRefusal, SandboxFailure]>([
  [
    { reason: 'queue-full', maxQueued: 5 },
    { kind: 'limit', what: 'queueLength', limit: 5, used: 6 },
  ],
  [
    { reason: 'timeout', maxWaitMs: 200 },
    { kind: 'limit', what: 'queueMs', limit: 200, used: 200 },
  ],
  [{ reason: 'aborted' }, { kind: 'interrupted', message: 'No caller waits for it any more' }],
])('a refusal of the limiter is a failure of the call: %o', (refusal, failure) => {
  expect(failureOf(refusal)).toEqual(failure)
})

test('the limiter refuses with the limits of the site that is full, and of one that waits too long', async () => {
  const refused: SandboxFailure[] = []
  const limiter = new Limiter({
    refuse: (refusal) => {
      refused.push(failureOf(refusal))
      return new Error(refusal.reason)
    },
  })
  const site = { key: 'site', permitsPerKey: 1, maxQueued: 1, maxWaitMs: 10 }
  await limiter.acquire(site)
  const waiting = limiter.acquire(site)
  await expect(limiter.acquire(site)).rejects.toThrow('queue-full')
  await expect(waiting).rejects.toThrow('timeout')
  expect(refused).toEqual([
    { kind: 'limit', what: 'queueLength', limit: 1, used: 2 },
    { kind: 'limit', what: 'queueMs', limit: 10, used: 10 },
  ])
})
