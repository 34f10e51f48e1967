import { isDeepStrictEqual } from 'node:util'

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { canonicalJson } from './canonical-json.ts'

const parsed = fc.json().map((text): unknown => JSON.parse(text))

function shuffled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shuffled)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, item]) => [key, shuffled(item)]),
  )
}

describe('canonical JSON', () => {
  test('means the value it was made from', () => {
    fc.assert(
      fc.property(parsed, (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(value)
      }),
    )
  })

  test('does not depend on the order of keys', () => {
    fc.assert(
      fc.property(parsed, (value) => {
        expect(canonicalJson(shuffled(value))).toBe(canonicalJson(value))
      }),
    )
  })

  test('is the same only for values that are the same', () => {
    fc.assert(
      fc.property(parsed, parsed, (a, b) => {
        expect(canonicalJson(a) === canonicalJson(b)).toBe(isDeepStrictEqual(a, b))
      }),
    )
  })

  test.each([
    ['{"b":1,"a":[true,null]}', '{"a":[true,null],"b":1}'],
    ['{"__proto__":{"x":1},"a":2}', '{"__proto__":{"x":1},"a":2}'],
    ['1.0', '1'],
    ['"\\u0041\\ud800"', '"A\\ud800"'],
    ['{"10":1,"9":2}', '{"10":1,"9":2}'],
  ])('of %s is %s', (text, canonical) => {
    expect(canonicalJson(JSON.parse(text))).toBe(canonical)
  })
})
