import { expect, test } from 'vitest'

import { NextLook } from './next-look.ts'

const NOON = Date.parse('2026-05-04T12:00:00Z')
/** A clock that has run for a while, and that of the machine, so many seconds after noon. */
const clocksAt = (second: number): [number, number] => [
  NOON + second * 1000,
  5_000_000 + second * 1000,
]
const timeAt = (second: number): Date => new Date(NOON + second * 1000)

/** Looks each second from the first look on; gives the seconds in which it is due, each of which is a look. */
function looks(dueAt: (second: number) => Date | undefined, until = 30): number[] {
  const next = new NextLook()
  const due: number[] = []
  for (let second = 0; second <= until; second += 1) {
    const [wallMs, steadyMs] = clocksAt(second)
    if (!next.isDue(wallMs, steadyMs)) continue
    due.push(second)
    next.found(next.begin(steadyMs), timeAt(second), dueAt(second))
  }
  return due
}

test('looks when the next job is due, and each second until it is no longer', () => {
  expect(looks((second) => timeAt(second < 9 ? 7 : 60), 12)).toEqual([0, 7, 8, 9])
})

test('rests for ten seconds at most', () => {
  expect(looks(() => undefined)).toEqual([0, 10, 20, 30])
  expect(looks(() => timeAt(3600))).toEqual([0, 10, 20, 30])
})

test('looks at once when something may have changed, even while it was looking', () => {
  const next = new NextLook()
  const [, steadyMs] = clocksAt(0)
  const look = next.begin(steadyMs)
  next.changed()
  next.found(look, timeAt(0), undefined)
  expect(next.isDue(...clocksAt(1))).toBe(true)
  next.found(next.begin(clocksAt(1)[1]), timeAt(1), undefined)
  expect(next.isDue(...clocksAt(2))).toBe(false)
  next.changed()
  expect(next.isDue(...clocksAt(3))).toBe(true)
})

test('looks when the clock of the machine is set', () => {
  const next = new NextLook()
  next.isDue(...clocksAt(0))
  next.found(next.begin(clocksAt(0)[1]), timeAt(0), timeAt(3600))
  expect(next.isDue(...clocksAt(1))).toBe(false)
  expect(next.isDue(NOON + 7200_000, clocksAt(2)[1])).toBe(true)
})
