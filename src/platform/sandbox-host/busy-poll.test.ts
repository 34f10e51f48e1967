import { setImmediate as turn } from 'node:timers/promises'

import { describe, expect, test } from 'vitest'

import { BusyPoll } from './busy-poll.ts'

describe('attention', () => {
  test('asks in every turn until the answer is there, and then no more', async () => {
    const attention = new BusyPoll(60_000)
    let asked = 0
    attention.until(() => (asked += 1) === 2)
    while (asked < 2) await turn()
    await turn()
    await turn()
    expect(asked).toBe(2)
  })

  test('ends by itself where no answer comes', async () => {
    const attention = new BusyPoll(0.1)
    let asked = 0
    attention.until(() => {
      asked += 1
      return false
    })
    let before = -1
    while (asked !== before) {
      before = asked
      await turn()
      await turn()
    }
    expect(asked).toBeGreaterThan(0)
  })
})
