import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

import { InFlightCounter } from './in-flight-counter.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const WAIT = { pauseMs: 5, withinMs: 1000 }

function watched(waiting: Promise<boolean>) {
  const seen: { isOver: boolean; isPause?: boolean } = { isOver: false }
  void waiting.then((isPause) => Object.assign(seen, { isOver: true, isPause }))
  return seen
}

describe('a pause', () => {
  test('begins when the last call in flight has ended', async () => {
    const underWay = new InFlightCounter()
    const [endOne, endOther] = [underWay.begin(), underWay.begin()]
    const seen = watched(underWay.pause(WAIT))
    endOne()
    await vi.advanceTimersByTimeAsync(100)
    expect(seen.isOver).toBe(false)
    endOther()
    await vi.advanceTimersByTimeAsync(4)
    expect(seen.isOver).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(seen).toEqual({ isOver: true, isPause: true })
    expect(vi.getTimerCount()).toBe(0)
  })

  test('is none where more comes before it was long enough', async () => {
    const underWay = new InFlightCounter()
    const endOne = underWay.begin()
    const seen = watched(underWay.pause(WAIT))
    endOne()
    await vi.advanceTimersByTimeAsync(3)
    const endOther = underWay.begin()
    await vi.advanceTimersByTimeAsync(50)
    expect(seen.isOver).toBe(false)
    endOther()
    await vi.advanceTimersByTimeAsync(5)
    expect(seen.isOver).toBe(true)
  })

  test('is waited for no longer than one wants', async () => {
    const underWay = new InFlightCounter()
    underWay.begin()
    const seen = watched(underWay.pause(WAIT))
    await vi.advanceTimersByTimeAsync(999)
    expect(seen.isOver).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(seen).toEqual({ isOver: true, isPause: false })
    expect(vi.getTimerCount()).toBe(0)
  })

  test('is there before anything was begun, and long after', async () => {
    const underWay = new InFlightCounter()
    expect(await underWay.pause(WAIT)).toBe(true)
    underWay.begin()()
    await vi.advanceTimersByTimeAsync(5)
    expect(await underWay.pause({ ...WAIT, withinMs: 0 })).toBe(true)
    expect(vi.getTimerCount()).toBe(0)
  })
})
