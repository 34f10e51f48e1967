import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { RestingTimer } from './resting-timer.ts'

let isBusy: boolean
let looks: number
const look = () => {
  looks += 1
  return isBusy
}
const looksIn = (ms: number): number => {
  looks = 0
  vi.advanceTimersByTime(ms)
  return looks
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  isBusy = false
})
afterEach(() => vi.useRealTimers())

test('looks often from a wake-up on, and rarely again when there was nothing for long enough', () => {
  using timer = new RestingTimer({ look, everyMs: 10, restMs: 500, calmMs: 100 })
  expect(looksIn(1000)).toBe(2)
  timer.wake(performance.now())
  expect(looksIn(1000)).toBe(10 + 1)
  timer.wake(performance.now())
  isBusy = true
  expect(looksIn(1000)).toBe(100)
})

test('is woken by what it sees at rest', () => {
  using timer = new RestingTimer({ look, everyMs: 10, restMs: 500, calmMs: 100 })
  isBusy = true
  expect(looksIn(600)).toBe(1 + 10)
  expect(timer).toBeDefined()
})

test('without an interval of rest looks only when woken, and never when it is over', () => {
  const timer = new RestingTimer({ look, everyMs: 10, calmMs: 100 })
  expect(looksIn(1000)).toBe(0)
  timer.wake(performance.now())
  expect(looksIn(1000)).toBe(10)
  timer[Symbol.dispose]()
  timer.wake(performance.now())
  expect(looksIn(1000)).toBe(0)
})
