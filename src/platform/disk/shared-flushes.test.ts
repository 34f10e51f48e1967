import { describe, expect, test } from 'vitest'

import { SharedFlushes } from './shared-flushes.ts'

function observed() {
  const begun: PromiseWithResolvers<void>[] = []
  const flushes = new SharedFlushes(() => {
    const flush = Promise.withResolvers<void>()
    begun.push(flush)
    return flush.promise
  })
  return { flushes, begun }
}

describe('flushes of one folder', () => {
  test('that are asked for while one runs share the next', async () => {
    const { flushes, begun } = observed()
    const first = flushes.flush('a')
    const [second, third] = [flushes.flush('a'), flushes.flush('a')]
    expect(begun).toHaveLength(1)
    begun[0]?.resolve()
    await first
    await expect.poll(() => begun.length).toBe(2)
    const fourth = flushes.flush('a')
    begun[1]?.resolve()
    await Promise.all([second, third])
    await expect.poll(() => begun.length).toBe(3)
    begun[2]?.resolve()
    await fourth
  })

  test('fail for those who asked for it alone', async () => {
    const { flushes, begun } = observed()
    const first = flushes.flush('a')
    const second = flushes.flush('a')
    begun[0]?.reject(new Error('no disk'))
    await expect(first).rejects.toThrow('no disk')
    await expect.poll(() => begun.length).toBe(2)
    begun[1]?.resolve()
    await expect(second).resolves.toBeUndefined()
  })

  test('do not wait for those of another', () => {
    const { flushes, begun } = observed()
    void flushes.flush('a')
    void flushes.flush('b')
    expect(begun).toHaveLength(2)
  })
})
