import { setImmediate } from 'node:timers/promises'

import { describe, expect, test } from 'vitest'

import { Expressions } from '#runtime/tables/expressions/expressions.ts'
import type { PlainItem } from '#runtime/tables/items/plain-json.ts'
import { segmentRange } from '#runtime/tables/store/key-range.ts'

import { pageOf } from './page.ts'

const schema = { partitionKey: { name: 'at', type: 'N' } } as const
const expressions = new Expressions()

const itemsOf = (count: number): PlainItem[] =>
  Array.from({ length: count }, (_, at) => ({ at, third: at % 3 }))

/** Keeps every third item. */
function foundOf(withItems: boolean) {
  const table = { siteId: 'site', tableId: 'table', schema }
  const fields = withItems ? {} : ({ select: 'COUNT' } as const)
  const bound = expressions.bind(
    { filterExpression: 'third = :none', expressionAttributeValues: { ':none': 0 } },
    ['filterExpression'],
  )
  const from = { range: segmentRange(0, 1), forward: true }
  return pageOf({ table, fields, expressions }, { keys: schema }, bound, from).found
}

describe('the answer to a page', () => {
  test.each([0, 1, 499, 500, 501, 1000, 1001, 10_000])('of %i items is whole', async (count) => {
    const items = itemsOf(count)
    for (const full of [true, false]) {
      const page = { items, full }
      const sliced = await foundOf(true)(page)
      expect(sliced.scannedCount).toBe(count)
      expect(sliced.lastEvaluatedKey).toEqual(full && count > 0 ? { at: count - 1 } : undefined)
      expect(sliced.items).toEqual(items.filter(({ third }) => third === 0))
      expect(sliced.count).toBe(sliced.items.length)
      const counted = await foundOf(false)(page)
      expect(counted).toEqual({ ...sliced, items: [] })
    }
  })

  test('lets others in between', async () => {
    let between = 0
    let done = false
    const answer = foundOf(true)({ items: itemsOf(5000), full: true }).then(() => {
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
