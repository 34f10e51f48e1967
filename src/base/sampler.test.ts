import { expect, test } from 'vitest'

import { Sampler } from './sampler.ts'

test.each([1, 4, 10, 32, 64])(
  'one of 32 is taken, also of those who ask every %d. time',
  (step) => {
    const chance = new Sampler()
    let taken = 0
    for (let at = 0; at < 32_000 * step; at += 1) {
      if (chance.isSampled() && at % step === 0) taken += 1
    }
    expect(taken).toBeGreaterThan(700)
    expect(taken).toBeLessThan(1300)
  },
)
