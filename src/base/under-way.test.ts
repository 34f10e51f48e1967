import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

import { UnderWay } from './under-way.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const WAIT = { pauseMs: 5, withinMs: 1000 }

function watched(waiting: Promise<void>): { readonly isOver: boolean } {
  const seen = { isOver: false }
  void waiting.then(() => (seen.isOver = true))
  return seen
}

/** Work that ends when the test says so. */
function held(underWay: UnderWay) {
  const { promise, resolve } = Promise.withResolvers<string>()
  return { result: underWay.run(() => promise), end: resolve }
}

describe('a pause', () => {
  test('begins when the last of what is under way has ended', async () => {
    const underWay = new UnderWay()
    const [one, other] = [held(underWay), held(underWay)]
    const seen = watched(underWay.pause(WAIT))
    one.end('one')
    await vi.advanceTimersByTimeAsync(100)
    expect(seen.isOver).toBe(false)
    other.end('other')
    await vi.advanceTimersByTimeAsync(4)
    expect(seen.isOver).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(seen.isOver).toBe(true)
    expect(await Promise.all([one.result, other.result])).toEqual(['one', 'other'])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('is none where more comes before it was long enough', async () => {
    const underWay = new UnderWay()
    const one = held(underWay)
    const seen = watched(underWay.pause(WAIT))
    one.end('one')
    await vi.advanceTimersByTimeAsync(3)
    const other = held(underWay)
    await vi.advanceTimersByTimeAsync(50)
    expect(seen.isOver).toBe(false)
    other.end('other')
    await vi.advanceTimersByTimeAsync(5)
    expect(seen.isOver).toBe(true)
  })

  test('begins after what failed, too', async () => {
    const underWay = new UnderWay()
    await expect(underWay.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
    const seen = watched(underWay.pause(WAIT))
    await vi.advanceTimersByTimeAsync(5)
    expect(seen.isOver).toBe(true)
  })

  test('is waited for no longer than one wants', async () => {
    const underWay = new UnderWay()
    held(underWay)
    const seen = watched(underWay.pause(WAIT))
    await vi.advanceTimersByTimeAsync(999)
    expect(seen.isOver).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(seen.isOver).toBe(true)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('is there before anything was begun, and long after', async () => {
    const underWay = new UnderWay()
    await underWay.pause(WAIT)
    await underWay.run(() => Promise.resolve())
    await vi.advanceTimersByTimeAsync(5)
    await underWay.pause(WAIT)
    expect(vi.getTimerCount()).toBe(0)
  })
})
