import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { withFallback, withTimeout } from './with-timeout.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const never = () => new Promise<string>(() => {})
const tooLate = (): never => {
  throw new Error('too late')
}

test('gives what comes in time, and leaves no timer', async () => {
  expect(await withTimeout(Promise.resolve('here'), 1000, tooLate)).toBe('here')
  await expect(withTimeout(Promise.reject(new Error('broken')), 1000, tooLate)).rejects.toThrow(
    'broken',
  )
  expect(vi.getTimerCount()).toBe(0)
})

test('asks what to give or throw when the time is over', async () => {
  const given = withTimeout(never(), 1000, () => 'late')
  const thrown = withTimeout(never(), 1000, tooLate).catch(String)
  await vi.advanceTimersByTimeAsync(999)
  expect(vi.getTimerCount()).toBe(2)
  await vi.advanceTimersByTimeAsync(1)
  expect(await given).toBe('late')
  expect(await thrown).toBe('Error: too late')
})

test('gives the fallback for what fails or takes too long', async () => {
  expect(await withFallback(Promise.resolve('here'), 1000, 'fallback')).toBe('here')
  expect(await withFallback(Promise.reject(new Error('broken')), 1000, 'fallback')).toBe('fallback')
  const late = withFallback(never(), 1000, 'fallback')
  await vi.advanceTimersByTimeAsync(1000)
  expect(await late).toBe('fallback')
})
