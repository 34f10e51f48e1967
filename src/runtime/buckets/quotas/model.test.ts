import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { type ObjectUsage, checkQuota, usageGrowth, usageOf } from './model.ts'

const standing = (sizeBytes?: number, reservedBytes?: number): ObjectUsage => ({
  sizeBytes,
  reservedBytes,
})
const bytes = fc.option(fc.nat(1000), { nil: undefined })
const anyStanding = fc.tuple(bytes, bytes).map(([size, reserved]) => standing(size, reserved))

describe('a key', () => {
  test.each([
    [standing(), [0, 0, 0, 0]],
    [standing(5), [5, 1, 5, 1]],
    [standing(undefined, 7), [0, 0, 7, 1]],
    [standing(5, 7), [5, 1, 7, 1]],
    [standing(9, 7), [9, 1, 9, 1]],
    [standing(0), [0, 1, 0, 1]],
  ])('that is %j counts %j', (known, counts) => {
    const share = usageOf(known)
    expect([share.usedBytes, share.usedObjects, share.chargedBytes, share.chargedObjects]).toEqual(
      counts,
    )
  })

  test('is always charged at least what it holds, and what a write to it may bring', () => {
    fc.assert(
      fc.property(anyStanding, (known) => {
        const { usedBytes, chargedBytes } = usageOf(known)
        expect(chargedBytes).toBeGreaterThanOrEqual(usedBytes)
        expect(chargedBytes).toBeGreaterThanOrEqual(known.reservedBytes ?? 0)
      }),
    )
  })

  test('grows by what takes it from one standing to the next', () => {
    fc.assert(
      fc.property(fc.array(anyStanding, { minLength: 2 }), (way) => {
        let [sum, at] = [usageOf(standing()), standing()]
        for (const next of way) {
          const more = usageGrowth(at, next)
          sum = {
            usedBytes: sum.usedBytes + more.usedBytes,
            usedObjects: sum.usedObjects + more.usedObjects,
            chargedBytes: sum.chargedBytes + more.chargedBytes,
            chargedObjects: sum.chargedObjects + more.chargedObjects,
          }
          at = next
        }
        expect(sum).toEqual(usageOf(at))
      }),
    )
  })
})

describe('the quota', () => {
  const limits = { bucketBytes: 10, bucketObjects: 2 }
  const usage = { usedBytes: 4, usedObjects: 1, chargedBytes: 8, chargedObjects: 1 }

  test('is filled to its last byte and not beyond', () => {
    expect(() =>
      checkQuota(usage, usageGrowth(standing(), standing(undefined, 2)), limits),
    ).not.toThrow()
    expect(() =>
      checkQuota(usage, usageGrowth(standing(), standing(undefined, 3)), limits),
    ).toThrow(
      '10 bytes (limit "bucketBytes"): 8 are used or promised to open uploads, and this asks for 3 more',
    )
  })

  test('never prevents what does not grow', () => {
    const over = { ...usage, chargedBytes: 50, chargedObjects: 9 }
    expect(() => checkQuota(over, usageGrowth(standing(9), standing(9, 5)), limits)).not.toThrow()
    expect(() => checkQuota(over, usageGrowth(standing(9), standing(9, 10)), limits)).toThrow(
      'bucketBytes',
    )
  })
})
