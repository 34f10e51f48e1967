import { describe, expect, test } from 'vitest'

import { SingleFlight } from './single-flight.ts'

describe('a single flight', () => {
  test('loads once for all concurrent callers, and again afterwards', async () => {
    const flights = new SingleFlight<string, number>()
    let loads = 0
    const load = async () => {
      loads += 1
      return loads
    }
    const together = [flights.run('a', load), flights.run('a', load), flights.run('b', load)]
    expect(await Promise.all(together)).toEqual([1, 1, 2])
    expect(await flights.run('a', load)).toBe(3)
  })

  test('that failed is not kept', async () => {
    const flights = new SingleFlight<string, number>()
    await expect(flights.run('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(await flights.run('a', async () => 1)).toBe(1)
  })
})
