import { describe, expect, test } from 'vitest'

import { parseRange } from './range-header.ts'

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
    ['bytes=4-2', undefined],
    ['bytes=-', undefined],
    ['bytes=0-1,3-4', undefined],
    ['items=0-1', undefined],
    [null, undefined],
  ])('%j of ten bytes means %j', (header, meaning) => {
    expect(parseRange(header, 10)).toEqual(meaning)
  })

  test('asks in vain of an empty object', () => {
    expect(parseRange('bytes=0-', 0)).toBe('unsatisfiable')
  })
})
