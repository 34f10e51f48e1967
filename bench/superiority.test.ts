import { describe, expect, test } from 'vitest'

import { superiority } from './superiority.ts'

const upTo = (count: number, of = (at: number) => at) =>
  Array.from({ length: count }, (_, at) => of(at))

describe('superiority', () => {
  test.each([
    ['nothing when both are equal', [1, 2, 3], [1, 2, 3], 0.5],
    ['everything when one is greater throughout', [4, 5, 6], [1, 2, 3], 1],
    ['nothing when one is smaller throughout', [1, 2, 3], [4, 5, 6], 0],
    ['half of each tie', [2], [1, 2, 2, 3], 0.5],
    ['the share of pairs that it wins', [1, 4], [2, 3, 5, 6], 2 / 8],
  ])('tells %s', (_what, first, second, probability) => {
    expect(superiority(first, second).probability).toBeCloseTo(probability, 10)
  })

  test('does not mind how much greater the greatest is', () => {
    const [usual, late] = [upTo(100), upTo(100, (at) => (at < 99 ? at : 1e9))]
    expect(superiority(late, upTo(100)).probability).toBeCloseTo(
      superiority(usual, upTo(100)).probability,
      2,
    )
  })

  test('is the surer the more it has seen, and sure of a shift', () => {
    const widthOf = (count: number) => {
      const { low, high } = superiority(upTo(count, shuffled), upTo(count, shuffled))
      expect(low).toBeLessThan(0.5)
      expect(high).toBeGreaterThan(0.5)
      return high - low
    }
    expect(widthOf(400)).toBeLessThan(widthOf(100) * 0.6)
    const shifted = superiority(
      upTo(400, (at) => shuffled(at) + 100),
      upTo(400, shuffled),
    )
    expect(shifted.low).toBeGreaterThan(0.5)
  })
})

/** Spread over 0 to 996, the same each time. */
const shuffled = (at: number): number => (at * 613) % 997
