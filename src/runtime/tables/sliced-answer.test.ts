import { setImmediate } from 'node:timers/promises'

import { describe, expect, test } from 'vitest'

import type { ItemPage } from './actions/page-request.ts'
import { slicedAnswer } from './sliced-answer.ts'

type Item = Parameters<ItemPage['answer']>[0]['items'][number]

const itemsOf = (count: number): Item[] =>
  Array.from({ length: count }, (_, at) => ({ at: { N: String(at) } }))

/** Keeps every third item. */
const answerOf =
  (withItems: boolean): ItemPage['answer'] =>
  ({ items, full }) => {
    const kept = items.filter((_item, at) => at % 3 === 0)
    const last = full ? items.at(-1) : undefined
    return {
      ...(withItems && { Items: kept }),
      Count: kept.length,
      ScannedCount: items.length,
      ...(last && { LastEvaluatedKey: last }),
    }
  }

describe('the answer to a page', () => {
  test.each([0, 1, 499, 500, 501, 1000, 1001, 10_000])('of %i items is whole', async (count) => {
    const items = itemsOf(count)
    for (const full of [true, false]) {
      const page = { items, full }
      const sliced = await slicedAnswer(answerOf(true), page)
      expect(sliced['ScannedCount']).toBe(count)
      expect(sliced['LastEvaluatedKey']).toEqual(full ? items.at(-1) : undefined)
      const kept = sliced['Items']
      expect(kept).toHaveLength(Number(sliced['Count']))
      expect(kept).toEqual(expect.arrayContaining(items.slice(0, 1)))
      const counted = await slicedAnswer(answerOf(false), page)
      const { Items: _items, ...rest } = sliced
      expect(counted).toEqual(rest)
    }
  })

  test('lets others in between', async () => {
    let between = 0
    let done = false
    const answer = slicedAnswer(answerOf(true), { items: itemsOf(5000), full: true }).then(() => {
      done = true
    })
    while (!done) {
      between += 1
      await setImmediate()
    }
    await answer
    expect(between).toBeGreaterThan(5)
  })
})
