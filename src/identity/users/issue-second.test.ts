import { describe, expect, test, vi } from 'vitest'

import { secondToIssue } from './issue-second.ts'

const NEVER = new Date(-8_640_000_000_000_000)
const at = (text: string) => new Date(`2026-11-27T12:00:${text}Z`)

describe('the second in which a token is issued', () => {
  test('is this one, at once, where nothing was revoked in it', async () => {
    const clock = { now: () => at('10.900') }
    expect(await secondToIssue(clock, NEVER)).toBe(at('10').getTime() / 1000)
    expect(await secondToIssue(clock, at('10'))).toBe(at('10').getTime() / 1000)
  })

  test('is the next one, once it is there, after a revocation in this one', async () => {
    vi.useFakeTimers({ now: at('10.400') })
    try {
      const clock = { now: () => new Date() }
      const issued = vi.fn<(second: number) => void>()
      const done = secondToIssue(clock, at('10.300')).then(issued)
      await vi.advanceTimersByTimeAsync(599)
      expect(issued).not.toHaveBeenCalled()
      await vi.advanceTimersByTimeAsync(2)
      await done
      expect(issued).toHaveBeenCalledExactlyOnceWith(at('11').getTime() / 1000)
      expect(Date.now()).toBeGreaterThanOrEqual(at('11').getTime())
    } finally {
      vi.useRealTimers()
    }
  })

  test('is not waited for longer than a second when another replica’s clock is far ahead', async () => {
    vi.useFakeTimers({ now: at('10.000') })
    try {
      const done = secondToIssue({ now: () => new Date() }, at('30.000'))
      await vi.advanceTimersByTimeAsync(1001)
      expect(await done).toBe(at('30').getTime() / 1000)
    } finally {
      vi.useRealTimers()
    }
  })
})
