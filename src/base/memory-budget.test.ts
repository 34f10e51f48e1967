import { describe, expect, test } from 'vitest'

import { MemoryBudget } from './memory-budget.ts'

const never = new AbortController().signal

/** Holders that each reserve some bytes, and which of them have them. */
function holders() {
  const budget = new MemoryBudget({ maxBytes: 256, maxBytesPerKey: 64, reservedBytes: 64 })
  const holding: string[] = []
  const reserve = async (name: string, key: string, bytes: number, signal = never) => {
    const lease = budget.lease(key)
    void lease
      .reserve(bytes, signal)
      .then((reserved) => holding.push(reserved ? name : `no ${name}`))
    await settled()
    return {
      release: () => (lease.release(), settled()),
      giveBack: (part: number) => (lease.giveBack(part), settled()),
    }
  }
  return { holding, reserve }
}

/** Waits until the handlers of resolved promises have run. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

describe('a memory budget', () => {
  test('bounds each key, and the rest wait in order', async () => {
    const { holding, reserve } = holders()
    const first = await reserve('first', 'one', 60)
    await reserve('second', 'one', 5)
    await reserve('third', 'one', 1)
    expect(holding).toEqual(['first'])
    await first.release()
    expect(holding).toEqual(['first', 'second', 'third'])
  })

  test('counts nothing of one key against another', async () => {
    const { holding, reserve } = holders()
    await reserve('first', 'one', 64)
    await reserve('second', 'one', 64)
    await reserve('neighbour', 'two', 10)
    expect(holding).toEqual(['first', 'neighbour'])
  })

  test('releases a part, and the rest only once', async () => {
    const { holding, reserve } = holders()
    const first = await reserve('first', 'one', 64)
    await reserve('second', 'one', 40)
    await first.giveBack(40)
    expect(holding).toEqual(['first', 'second'])
    await first.release()
    await first.release()
    await reserve('third', 'one', 24)
    await reserve('fourth', 'one', 1)
    expect(holding).toEqual(['first', 'second', 'third'])
  })

  test('keeps a way in for keys that hold nothing, until everything is held', async () => {
    const { holding, reserve } = holders()
    for (const key of ['a', 'b', 'c', 'd']) await reserve(key, key, 40)
    await reserve('more', 'a', 24)
    await reserve('too much', 'b', 24)
    await reserve('newcomer', 'e', 64)
    expect(holding).toEqual(['a', 'b', 'c', 'd', 'more', 'newcomer'])
    await reserve('late', 'f', 64)
    expect(holding).toHaveLength(6)
  })

  test('serves keys in turn', async () => {
    const { holding, reserve } = holders()
    const held = []
    for (const key of ['a', 'b', 'c', 'd']) held.push(await reserve(key, key, 64))
    for (const name of ['e1', 'e2', 'f1']) await reserve(name, name.charAt(0), 40)
    for (const one of held.slice(0, 2)) await one.release()
    expect(holding.slice(4)).toEqual(['e1', 'f1'])
  })

  test('gives up at the signal, and lets the next one in', async () => {
    const { holding, reserve } = holders()
    const call = new AbortController()
    await reserve('first', 'one', 40)
    await reserve('large', 'one', 64, call.signal)
    call.abort()
    await settled()
    await reserve('small', 'one', 10)
    await reserve('late', 'one', 1, call.signal)
    expect(holding).toEqual(['first', 'no large', 'small', 'no late'])
  })
})
