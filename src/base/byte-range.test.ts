import { describe, expect, test } from 'vitest'

import { bytesInRange, isBackwards, parseRangeHeader } from './byte-range.ts'

const bytesOf = (header: string, sizeBytes: number) => {
  const range = parseRangeHeader(header)
  if (range && isBackwards(range)) return 'backwards'
  return range === undefined ? 'ignored' : (bytesInRange(range, sizeBytes) ?? 'unsatisfiable')
}

describe('a Range header', () => {
  test.each([
    ['bytes=0-4', { start: 0, end: 4 }],
    ['bytes=5-', { start: 5, end: 9 }],
    ['bytes=-3', { start: 7, end: 9 }],
    ['bytes=-30', { start: 0, end: 9 }],
    ['bytes=8-99', { start: 8, end: 9 }],
    ['bytes=10-', 'unsatisfiable'],
    ['bytes=-0', 'unsatisfiable'],
    ['bytes=99999999999999999999-', 'unsatisfiable'],
    ['bytes=8-99999999999999999999', { start: 8, end: 9 }],
    ['bytes=-99999999999999999999', { start: 0, end: 9 }],
    ['bytes=4-2', 'backwards'],
    ['bytes=-', 'ignored'],
    ['bytes=0-1,3-4', 'ignored'],
    ['items=0-1', 'ignored'],
  ])('%j of ten bytes means %j', (header, meaning) => {
    expect(bytesOf(header, 10)).toEqual(meaning)
  })

  test('requests a range of an empty object', () => {
    expect(bytesOf('bytes=0-', 0)).toBe('unsatisfiable')
  })
})
