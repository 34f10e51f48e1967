import { describe, expect, test, vi } from 'vitest'

import { Lease } from './lease.ts'

const steps = { everyMs: 5, answerMs: 50, renew: async () => {}, release: async () => {} }

describe('a lease', () => {
  test('is renewed until it is given back', async () => {
    const renew = vi.fn<() => Promise<void>>(steps.renew)
    const release = vi.fn<() => Promise<void>>(steps.release)
    {
      await using lease = new Lease({ ...steps, renew, release })
      await vi.waitUntil(() => renew.mock.calls.length > 2)
      await lease.assertHeld()
      expect(release).not.toHaveBeenCalled()
    }
    expect(release).toHaveBeenCalledOnce()
  })

  test.each([
    ['is refused', () => Promise.reject(new Error('it is gone')), 'it is gone'],
    ['is not answered', () => new Promise<void>(() => {}), 'has not answered for 0.05 seconds'],
  ])('that %s is lost, says so at once, and is not given back', async (_, renew, reason) => {
    const release = vi.fn<() => Promise<void>>(steps.release)
    const lease = new Lease({ ...steps, renew, release })
    await vi.waitUntil(() => lease.lost.aborted)
    await expect(lease.assertHeld()).rejects.toThrow(reason)
    await lease[Symbol.asyncDispose]()
    expect(release).not.toHaveBeenCalled()
  })
})
