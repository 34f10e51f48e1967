import { randomBytes } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'

import { describe, expect, test } from 'vitest'

import { G, N, numberOf } from './group.ts'
import { ModularPowers } from './modular-powers.ts'

/** By the definition, slowly. */
function expected(base: bigint, exponent: bigint): bigint {
  let [power, square] = [1n, base % N]
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest % 2n === 1n) power = (power * square) % N
    square = (square * square) % N
  }
  return power
}

describe('powers', () => {
  const all = new ModularPowers()
  const powers = all.from('192.0.2.1')
  const bases = [0n, 1n, 2n, N - 1n, N, N + 3n, numberOf(randomBytes(384))]
  const exponents = [0n, 1n, 2n, 15n, 16n, 2n ** 255n, 2n ** 256n - 1n, numberOf(randomBytes(32))]

  test('are what the definition says', async () => {
    for (const base of bases) {
      for (const exponent of exponents) {
        expect(await powers.raise(base, exponent)).toBe(expected(base, exponent))
      }
    }
  })

  test('of the generator too, up to 256 bits', async () => {
    for (const exponent of exponents) {
      expect(await powers.raiseGenerator(exponent)).toBe(expected(G, exponent))
    }
    await expect(powers.raiseGenerator(2n ** 256n)).rejects.toThrow('256 bits')
  })

  test('leave the event loop to others while they are raised', async () => {
    let ended = false
    const work = powers.raise(bases.at(-1) ?? 3n, 2n ** 256n - 1n).then(() => (ended = true))
    let turns = 0
    while (!ended) {
      await nextTurn()
      turns += 1
    }
    await work
    expect(turns).toBeGreaterThanOrEqual(4)
  })

  test('leave it to them between one and the next', async () => {
    await powers.raiseGenerator(1n)
    let ended = 0
    const crowd = Array.from({ length: 20 }, async () => {
      await powers.raiseGenerator(2n ** 255n)
      ended += 1
    })
    const seen = new Set<number>()
    while (ended < crowd.length) {
      await nextTurn()
      seen.add(ended)
    }
    await Promise.all(crowd)
    expect(seen.size).toBeGreaterThan(10)
  })

  test('are refused when too many of one network wait, which keeps no other out', async () => {
    const crowd = Array.from({ length: 160 }, () => powers.raise(3n, 2n))
    const others = Array.from({ length: 300 }, (_, at) =>
      all.from(`2001:db8:${at}::1`).raise(3n, 2n),
    )
    const outcomes = await Promise.allSettled(crowd)
    const refused = outcomes.filter(({ status }) => status === 'rejected')
    expect(refused).toHaveLength(160 - 65)
    expect(refused[0]).toMatchObject({ reason: { code: 'ServiceUnavailable' } })
    expect(await Promise.all(others)).toEqual(others.map(() => 9n))
    expect(await powers.raise(3n, 2n)).toBe(9n)
  })

  test('of one of a crowd’s neighbours do not wait for the crowd', async () => {
    const ended: string[] = []
    const power = async (address: string) => {
      await all.from(address).raise(3n, 2n)
      ended.push(address)
    }
    const crowd = Array.from({ length: 60 }, () => power('2001:db8::1'))
    await Promise.all([...crowd, power('2001:db8:1::1')])
    expect(ended.indexOf('2001:db8:1::1')).toBeLessThan(5)
  })
})
