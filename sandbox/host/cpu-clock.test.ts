import { expect, test } from 'vitest'

import { CpuClock, MAX_WAIT_FACTOR } from './cpu-clock.ts'

/** Keeps this thread from its processor, or from nothing else but that. */
const waitMs = (ms: number): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

/** Has the clock measure a stretch that waits most of its time. */
function starve(clock: CpuClock, ms: number): void {
  const startMs = performance.now()
  clock.begin(startMs)
  waitMs(ms)
  clock.spentMs(performance.now() - startMs)
}

test('a stretch may wait a little longer than it computes, and longer where it gets less of a processor', () => {
  const clock = new CpuClock()
  expect(clock.wallMsFor(1000)).toBeGreaterThanOrEqual(1120)
  expect(clock.wallMsFor(1000)).toBeLessThanOrEqual(16 * 1100 + 20)
  expect(clock.wallMsFor(1000, 1)).toBeGreaterThan(clock.wallMsFor(1000))
  starve(clock, 500)
  const busyMs = clock.wallMsFor(1000)
  expect(busyMs).toBeGreaterThan(2000)
  starve(clock, 2000)
  expect(clock.wallMsFor(1000)).toBeGreaterThanOrEqual(busyMs)
  expect(clock.wallMsFor(1000)).toBeLessThanOrEqual(1000 * MAX_WAIT_FACTOR)
  expect(clock.lostMs).toBeGreaterThan(2000)
})
