import { describe, expect, test } from 'vitest'

import { Turns } from './turns.ts'

function gated(turns: Turns, log: string[]) {
  return (name: string) => {
    const gate = Promise.withResolvers<void>()
    const done = turns.run(async () => {
      log.push(name)
      await gate.promise
      return name
    })
    return { done, finish: () => gate.resolve() }
  }
}

describe('turns', () => {
  test('let so many work at once, and the others in the order in which they came', async () => {
    const log: string[] = []
    const start = gated(new Turns({ atOnce: 2, mayWait: 8 }), log)
    const [a, b, c, d] = [start('a'), start('b'), start('c'), start('d')]
    await expect.poll(() => log).toEqual(['a', 'b'])
    b.finish()
    await b.done
    await expect.poll(() => log).toEqual(['a', 'b', 'c'])
    a.finish()
    await a.done
    await expect.poll(() => log).toEqual(['a', 'b', 'c', 'd'])
    c.finish()
    d.finish()
    expect(await Promise.all([c.done, d.done])).toEqual(['c', 'd'])
  })

  test('turn away whom there is no room to wait for', async () => {
    const log: string[] = []
    const start = gated(new Turns({ atOnce: 1, mayWait: 1 }), log)
    const [a, b, c] = [start('a'), start('b'), start('c')]
    await expect(c.done).rejects.toMatchObject({
      code: 'ServiceUnavailable',
      retryAfterSeconds: 2,
    })
    a.finish()
    b.finish()
    expect(await Promise.all([a.done, b.done])).toEqual(['a', 'b'])
  })

  test('pass on when work fails', async () => {
    const turns = new Turns({ atOnce: 1, mayWait: 1 })
    const failed = turns.run(() => Promise.reject(new Error('no')))
    const next = turns.run(async () => 'next')
    await expect(failed).rejects.toThrow('no')
    expect(await next).toBe('next')
  })
})
