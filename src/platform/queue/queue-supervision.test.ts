import { expect, test } from 'vitest'

import { QueueSupervision } from './queue-supervision.ts'

const FIVE = 5000

/** Looks each five seconds for a minute and a half; gives the seconds in which it supervised. */
async function passes(isBusyAt: (second: number) => boolean, fails = false): Promise<number[]> {
  const seen: number[] = []
  let nowMs = 0
  const supervise = async () => {
    seen.push(nowMs / 1000)
    if (fails) throw new Error('no answer')
  }
  using supervision = new QueueSupervision({ boss: { supervise }, failed: () => {} })
  for (; nowMs <= 90_000; nowMs += FIVE) {
    supervision.isBusy = isBusyAt(nowMs / 1000)
    supervision.look(nowMs)
    // The pass ends.
    await new Promise(setImmediate)
  }
  return seen
}

test('a queue without jobs is supervised once a minute', async () => {
  expect(await passes(() => false)).toEqual([0, 60])
})

test('supervises a queue with jobs each time, and again when they have ended', async () => {
  expect(await passes((second) => second >= 20 && second <= 30)).toEqual([0, 20, 25, 30, 35])
})

test('a pass that fails is tried again with the next look', async () => {
  expect(await passes(() => false, true)).toHaveLength(19)
})
