import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

import { steadyNowMs } from './steady-clock.ts'
import { WakeTimers } from './wake-timers.ts'

const HOUR_MS = 3_600_000

describe('a timer', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  test.each([-2 * HOUR_MS, 2 * HOUR_MS])(
    'wakes after as long when the clock is set by %d ms',
    (stepMs) => {
      const wake = vi.fn<(owner: string) => void>()
      const timers = new WakeTimers(wake)
      timers.set('one', steadyNowMs() + 1000)
      vi.setSystemTime(Date.now() + stepMs)
      timers.set('two', steadyNowMs() + 1000)
      vi.advanceTimersByTime(990)
      expect(wake).not.toHaveBeenCalled()
      vi.advanceTimersByTime(20)
      expect(wake.mock.calls).toEqual([['one'], ['two']])
    },
  )

  test('that is asked for an earlier moment wakes then, once', () => {
    const wake = vi.fn<(owner: string) => void>()
    const timers = new WakeTimers(wake)
    timers.set('one', steadyNowMs() + 1000)
    timers.set('one', steadyNowMs() + 100)
    timers.set('none', 0)
    vi.advanceTimersByTime(5000)
    expect(wake.mock.calls).toEqual([['one']])
  })
})
