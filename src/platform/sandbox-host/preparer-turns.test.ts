import { describe, expect, test } from 'vitest'

import { AppError } from '#base/app-error.ts'

import { PreparerTurns } from './preparer-turns.ts'

const refuse = () => new AppError('TooManyRequests', 'too many')

/** Turns whose work ends when the test says so, and the sites in the order in which they began. */
function bench(processes: number, maxWaiting = 100) {
  let nowMs = 0
  const turns = new PreparerTurns({ processes, maxWaiting, refuse, now: () => nowMs })
  const begun: string[] = []
  const running = new Map<string, (cpuMs: number) => void>()
  return {
    begun,
    pass: (ms: number): void => {
      nowMs += ms
    },
    ask: async (siteId: string): Promise<void> => {
      const turn = turns.run(siteId, async (charge) => {
        begun.push(siteId)
        charge(await new Promise<number>((resolve) => running.set(siteId, resolve)))
      })
      await Promise.race([turn, new Promise(setImmediate)])
    },
    /** Ends the turn of a site, which took so much. */
    end: async (siteId: string, cpuMs: number): Promise<void> => {
      running.get(siteId)?.(cpuMs)
      await new Promise(setImmediate)
    },
  }
}

describe('turns of preparing code', () => {
  test('are one at a time for a site, whatever is free', async () => {
    const { ask, begun, end } = bench(2)
    await ask('a')
    await ask('a')
    expect(begun).toEqual(['a'])
    await end('a', 10)
    expect(begun).toEqual(['a', 'a'])
  })

  test('go to the site that has used the least recently', async () => {
    const { ask, begun, end } = bench(1)
    await ask('many')
    await ask('many')
    await ask('many')
    await ask('few')
    await ask('other')
    await end('many', 400)
    await end('few', 10)
    await end('other', 10)
    await end('many', 400)
    expect(begun).toEqual(['many', 'few', 'other', 'many', 'many'])
  })

  test('leave one process to those that use little', async () => {
    const { ask, begun, end } = bench(2)
    for (const site of ['a', 'b']) {
      await ask(site)
      await end(site, 3000)
    }
    await ask('a')
    await ask('b')
    await ask('light')
    expect(begun.slice(2)).toEqual(['a', 'light'])
    await end('light', 10)
    expect(begun).toHaveLength(4)
    await end('a', 3000)
    expect(begun.slice(4)).toEqual(['b'])
  })

  test('come to everyone: what a site has waited counts for it, and what it has used is forgotten', async () => {
    const { ask, begun, end, pass } = bench(1)
    await ask('heavy')
    await end('heavy', 4000)
    await ask('light')
    await ask('heavy')
    pass(5000)
    await ask('late')
    await end('light', 100)
    expect(begun).toEqual(['heavy', 'light', 'heavy'])
    await ask('heavy')
    await end('heavy', 4000)
    pass(600_000)
    await ask('new')
    await end('late', 1)
    expect(begun).toEqual(['heavy', 'light', 'heavy', 'late', 'heavy'])
  })

  test('are refused beyond those that may wait, and given back when the work fails', async () => {
    const { ask, begun, end } = bench(1, 1)
    await ask('a')
    await ask('a')
    await expect(ask('a')).rejects.toMatchObject({ code: 'TooManyRequests' })
    await end('a', 1)
    expect(begun).toEqual(['a', 'a'])
    const turns = new PreparerTurns({ processes: 1, maxWaiting: 1, refuse, now: () => 0 })
    await expect(turns.run('a', () => Promise.reject(new Error('broken')))).rejects.toThrow(
      'broken',
    )
    await expect(turns.run('a', async () => 'next')).resolves.toBe('next')
  })
})
