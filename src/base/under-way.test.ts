import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

import { UnderWay } from './under-way.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function watched(waiting: Promise<void>): { readonly isOver: boolean } {
  const seen = { isOver: false }
  void waiting.then(() => (seen.isOver = true))
  return seen
}

describe('work that is under way', () => {
  test('is waited for, the last of it', async () => {
    const underWay = new UnderWay()
    const [one, other] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()]
    const results = [underWay.run(() => one.promise), underWay.run(() => other.promise)]
    const seen = watched(underWay.none(1000))
    one.resolve('one')
    await vi.advanceTimersByTimeAsync(10)
    expect(seen.isOver).toBe(false)
    other.resolve('other')
    await vi.advanceTimersByTimeAsync(0)
    expect(seen.isOver).toBe(true)
    expect(await Promise.all(results)).toEqual(['one', 'other'])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('that fails is over, too', async () => {
    const underWay = new UnderWay()
    await expect(underWay.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
    await underWay.none(1000)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('is waited for no longer than one wants', async () => {
    const underWay = new UnderWay()
    void underWay.run(() => new Promise(() => {}))
    const seen = watched(underWay.none(1000))
    await vi.advanceTimersByTimeAsync(999)
    expect(seen.isOver).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(seen.isOver).toBe(true)
  })

  test('is not there before any was begun', async () => {
    await new UnderWay().none(1000)
    expect(vi.getTimerCount()).toBe(0)
  })
})
