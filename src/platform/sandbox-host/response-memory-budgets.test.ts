import { describe, expect, test } from 'vitest'

import { ResponseMemoryBudgets } from './response-memory-budgets.ts'

const MIB = 1024 * 1024
const never = new AbortController().signal

/** Host calls that each take some room, and which of them have it. */
function hall() {
  const rooms = new ResponseMemoryBudgets()
  const having: string[] = []
  const ask = async (name: string, siteId: string, mib: number, signal = never) => {
    const room = rooms.open(siteId)
    void room.take(mib * MIB, signal).then((taken) => having.push(taken ? name : `no ${name}`))
    await settled()
    return {
      leave: () => (room.leave(), settled()),
      giveBack: (back: number) => (room.giveBack(back * MIB), settled()),
    }
  }
  return { having, ask }
}

/** Promises that are resolved have been heard of. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

describe('room for answers', () => {
  test('lets a site hold 64 MiB, and the rest wait in turn', async () => {
    const { having, ask } = hall()
    const first = await ask('first', 'one', 60)
    await ask('second', 'one', 5)
    await ask('third', 'one', 1)
    expect(having).toEqual(['first'])
    await first.leave()
    expect(having).toEqual(['first', 'second', 'third'])
  })

  test('counts nothing of one site against another', async () => {
    const { having, ask } = hall()
    await ask('first', 'one', 64)
    await ask('second', 'one', 64)
    await ask('neighbour', 'two', 10)
    expect(having).toEqual(['first', 'neighbour'])
  })

  test('takes back what was not needed, and all that is left once', async () => {
    const { having, ask } = hall()
    const first = await ask('first', 'one', 64)
    await ask('second', 'one', 40)
    await first.giveBack(40)
    expect(having).toEqual(['first', 'second'])
    await first.leave()
    await first.leave()
    await ask('third', 'one', 24)
    await ask('fourth', 'one', 1)
    expect(having).toEqual(['first', 'second', 'third'])
  })

  test('keeps a way in for sites that hold nothing, until everything is held', async () => {
    const { having, ask } = hall()
    for (const site of ['a', 'b', 'c', 'd']) await ask(site, site, 40)
    await ask('more', 'a', 24)
    await ask('too much', 'b', 24)
    await ask('newcomer', 'e', 64)
    expect(having).toEqual(['a', 'b', 'c', 'd', 'more', 'newcomer'])
    await ask('late', 'f', 64)
    expect(having).toHaveLength(6)
  })

  test('serves sites in turn', async () => {
    const { having, ask } = hall()
    const held = []
    for (const site of ['a', 'b', 'c', 'd']) held.push(await ask(site, site, 64))
    for (const name of ['e1', 'e2', 'f1']) await ask(name, name.charAt(0), 40)
    for (const one of held.slice(0, 2)) await one.leave()
    expect(having.slice(4)).toEqual(['e1', 'f1'])
  })

  test('gives up at the signal, and lets the next one in', async () => {
    const { having, ask } = hall()
    const call = new AbortController()
    await ask('first', 'one', 40)
    await ask('large', 'one', 64, call.signal)
    call.abort()
    await settled()
    await ask('small', 'one', 10)
    await ask('late', 'one', 1, call.signal)
    expect(having).toEqual(['first', 'no large', 'small', 'no late'])
  })
})
