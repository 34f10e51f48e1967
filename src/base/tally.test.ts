import { describe, expect, test } from 'vitest'

import { Tally, TallyTable } from './tally.ts'

describe('a tally', () => {
  test('has every label from the start', () => {
    const tally = new Tally(['sent', 'failed'])
    expect([...tally.entries()]).toEqual([
      ['sent', 0],
      ['failed', 0],
    ])
    tally.add('failed')
    tally.add('failed')
    expect([...tally.entries()]).toEqual([
      ['sent', 0],
      ['failed', 2],
    ])
  })

  test('of two lists counts every pair by itself', () => {
    const table = new TallyTable(['one', 'two'], ['yes', 'no'])
    table.add('two', 'yes')
    expect([...table.entries()]).toEqual([
      ['one', 'yes', 0],
      ['one', 'no', 0],
      ['two', 'yes', 1],
      ['two', 'no', 0],
    ])
  })
})
