import { describe, expect, test } from 'vitest'

import type { CounterRule } from './counters.ts'
import { MemoryCounters } from './memory-counters.ts'

const KEY = { siteId: 'a', name: 'x' }
const RULE: CounterRule = {
  free: 3,
  firstWaitMs: 1000,
  lastWaitMs: 8000,
  forgetMs: 60_000,
  forgetAfter: 'latest',
}

function counting(rule: CounterRule = RULE) {
  let nowMs = 1_000_000
  const counters = new MemoryCounters({ clock: { now: () => new Date(nowMs) } })
  return {
    begin: (key = KEY) => counters.step(key, rule, 'begin'),
    add: () => counters.step(KEY, rule, 'add'),
    undo: () => counters.step(KEY, rule, 'undo'),
    look: () => counters.step(KEY, rule, 'look'),
    clear: () => counters.clear(KEY),
    pass(ms: number) {
      nowMs += ms
    },
  }
}

describe('a counter', () => {
  test('counts some for nothing, then makes each one wait twice as long as the last, up to a limit', async () => {
    const counter = counting()
    const waits: number[] = []
    for (let count = 0; count < 8; count += 1) waits.push((await counter.add()).waitMs)
    expect(waits).toEqual([0, 0, 1000, 2000, 4000, 8000, 8000, 8000])
  })

  test('admits one at a time once there is a wait, and says who is the first to be refused', async () => {
    const counter = counting()
    for (let count = 0; count < 3; count += 1) {
      expect(await counter.begin()).toMatchObject({ admitted: true })
    }
    expect(await counter.begin()).toEqual({
      count: 3,
      waitMs: 1000,
      admitted: false,
      firstRefusal: true,
    })
    counter.pass(999)
    expect(await counter.begin()).toMatchObject({ admitted: false, waitMs: 1, firstRefusal: false })
    counter.pass(1)
    expect(await counter.begin()).toMatchObject({ admitted: true, count: 4, waitMs: 2000 })
    expect(await counter.begin()).toMatchObject({ admitted: false, firstRefusal: true })
  })

  test('admits what fits, unless it is the first, and says when there is room again', async () => {
    const rule: CounterRule = { ...RULE, free: 10, forgetAfter: 'first' }
    const counters = new MemoryCounters({ clock: { now: () => new Date(1_000_000) } })
    const begin = (weight: number) => counters.step(KEY, { ...rule, weight }, 'begin')
    expect(await begin(6)).toMatchObject({ admitted: true, count: 6, waitMs: 0 })
    expect(await begin(5)).toMatchObject({ admitted: false, count: 6, waitMs: 60_000 })
    expect(await begin(4)).toMatchObject({ admitted: true, count: 10 })
    await counters.step(KEY, { ...rule, weight: 4 }, 'undo')
    expect(await begin(4)).toMatchObject({ admitted: true, count: 10 })
    await counters.clear(KEY)
    expect(await begin(11)).toMatchObject({ admitted: true, count: 11 })
  })

  test('takes one back, and its wait with it', async () => {
    const counter = counting()
    for (let count = 0; count < 3; count += 1) await counter.add()
    expect(await counter.undo()).toMatchObject({ count: 2, waitMs: 0 })
    expect(await counter.begin()).toMatchObject({ admitted: true, count: 3 })
  })

  test('never counts below nothing', async () => {
    const counter = counting()
    expect((await counter.undo()).count).toBe(0)
    expect((await counter.add()).count).toBe(1)
  })

  test('is forgotten after a quiet while', async () => {
    const counter = counting()
    for (let count = 0; count < 6; count += 1) await counter.add()
    counter.pass(59_999)
    expect((await counter.look()).count).toBe(6)
    await counter.add()
    counter.pass(59_999)
    expect((await counter.look()).count).toBe(7)
    counter.pass(1)
    expect((await counter.look()).count).toBe(0)
  })

  test('that is forgotten from its first count on makes no caller wait beyond it', async () => {
    const counter = counting({
      ...RULE,
      firstWaitMs: 60_000,
      lastWaitMs: 60_000,
      forgetAfter: 'first',
    })
    await counter.add()
    counter.pass(50_000)
    await counter.add()
    expect((await counter.add()).waitMs).toBe(10_000)
    counter.pass(10_000)
    expect(await counter.begin()).toMatchObject({ admitted: true, count: 1 })
  })

  test('is forgotten when it is cleared', async () => {
    const counter = counting()
    for (let count = 0; count < 5; count += 1) await counter.add()
    await counter.clear()
    expect(await counter.look()).toMatchObject({ count: 0, waitMs: 0 })
  })

  test('of another site, and of another name, is another', async () => {
    const counter = counting()
    for (let count = 0; count < 5; count += 1) await counter.add()
    expect(await counter.begin({ ...KEY, siteId: 'b' })).toMatchObject({ count: 1 })
    expect(await counter.begin({ ...KEY, name: 'y' })).toMatchObject({ count: 1 })
  })
})
