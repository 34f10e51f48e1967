import { Buffer } from 'node:buffer'

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { areEqual } from './equality.ts'
import { compareValues } from './order.ts'

describe('values', () => {
  test('are ordered by the bytes of their UTF-8, as strings', () => {
    const text = fc.string({ unit: 'binary' })
    fc.assert(
      fc.property(text, text, (one, other) => {
        const expected = Buffer.compare(Buffer.from(one), Buffer.from(other))
        expect(compareValues({ S: one }, { S: other })).toBe(expected)
      }),
    )
    expect(compareValues({ S: '\u{1F600}' }, { S: '\uFFFD' })).toBe(1)
  })

  test('have no order between types', () => {
    expect(compareValues({ S: '1' }, { N: '1' })).toBeUndefined()
    expect(compareValues({ BOOL: true }, { BOOL: false })).toBeUndefined()
  })

  test('are equal when a set has the same members and a map the same attributes', () => {
    expect(areEqual({ SS: ['a', 'b'] }, { SS: ['b', 'a'] })).toBe(true)
    expect(areEqual({ SS: ['a'] }, { BS: ['a'] })).toBe(false)
    expect(areEqual({ L: [{ N: '1' }] }, { L: [{ N: '1' }] })).toBe(true)
    expect(areEqual({ L: [{ N: '1' }, { N: '2' }] }, { L: [{ N: '2' }, { N: '1' }] })).toBe(false)
    expect(
      areEqual(
        { M: { a: { S: 'x' }, b: { NULL: true } } },
        { M: { b: { NULL: true }, a: { S: 'x' } } },
      ),
    ).toBe(true)
    expect(areEqual({ M: { a: { S: 'x' } } }, { M: { toString: { S: 'x' } } })).toBe(false)
  })
})
