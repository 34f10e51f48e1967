import { describe, expect, test } from 'vitest'

import { CoalescingQueue } from './coalescing-queue.ts'

/** Work that goes on until it is released. */
function gated(atOnce: number) {
  const begun: string[] = []
  const gates = new Map<string, () => void>()
  const work = new CoalescingQueue(atOnce, (thing) => {
    begun.push(thing)
    return new Promise((resolve) => gates.set(thing, resolve))
  })
  const release = (thing: string) => gates.get(thing)?.()
  return { work, begun, release }
}

describe('due work', () => {
  test('is done a few at a time, in the order in which it was asked for', async () => {
    const { work, begun, release } = gated(2)
    const all = work.addAll(['a', 'b', 'c', 'd'])
    expect(begun).toEqual(['a', 'b'])
    release('b')
    await expect.poll(() => begun).toEqual(['a', 'b', 'c'])
    for (const thing of ['a', 'c']) release(thing)
    await expect.poll(() => begun).toEqual(['a', 'b', 'c', 'd'])
    release('d')
    await all
  })

  test('goes on around a thing that takes long', async () => {
    const { work, begun, release } = gated(2)
    void work.add('stuck')
    for (const thing of ['a', 'b', 'c']) {
      const done = work.add(thing)
      release(thing)
      await done
    }
    expect(begun).toEqual(['stuck', 'a', 'b', 'c'])
  })

  test('runs work on one thing never twice at once, and again when it was added during a run', async () => {
    const { work, begun, release } = gated(2)
    const first = work.add('a')
    const again = [work.add('a'), work.add('a')]
    expect(begun).toEqual(['a'])
    release('a')
    await first
    await expect.poll(() => begun).toEqual(['a', 'a'])
    release('a')
    await Promise.all(again)
    expect(begun).toEqual(['a', 'a'])
  })

  test('waits for what has begun when all is asked for', async () => {
    const { work, begun, release } = gated(2)
    let over = false
    void work.add('begun')
    const all = work.addAll([]).then(() => (over = true))
    release('begun')
    await expect.poll(() => begun).toEqual(['begun', 'begun'])
    expect(over).toBe(false)
    release('begun')
    await all
  })

  test('rejects for the caller whose work fails, and goes on with the next', async () => {
    const work = new CoalescingQueue(1, async (thing) => {
      if (thing === 'bad') throw new Error('it fails')
    })
    // No caller waits for this one.
    void work.add('bad')
    const [again, good] = await Promise.allSettled([work.add('bad'), work.add('good')])
    expect(again).toMatchObject({ status: 'rejected', reason: { message: 'it fails' } })
    expect(good.status).toBe('fulfilled')
  })
})
