import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { AppError } from './app-error.ts'
import { MAX_DEPTH, checkDepth, isNestedDeeper } from './json-depth.ts'

const PIECES = 5_000_000
/** Takes a tenth of a second; a parser that looks back at each piece takes hours. */
const ONE_PASS_MS = 30_000

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}

describe('the depth of a body', () => {
  test('is what a parser would find, whatever its strings hold', () => {
    const trickyKey = fc.string({ unit: fc.constantFrom('"', '\\', '[', '{', '}', ']', 'a', 'é') })
    const document = fc.letrec((tie) => ({
      node: fc.oneof(
        { maxDepth: 8 },
        fc.constantFrom(null, 1, true),
        trickyKey,
        fc.array(tie('node'), { maxLength: 3 }),
        fc.dictionary(trickyKey, tie('node'), { maxKeys: 3 }),
      ),
    })).node
    fc.assert(
      fc.property(document, fc.integer({ min: 0, max: 10 }), (value, limit) => {
        expect(isNestedDeeper(JSON.stringify(value), limit)).toBe(depthOf(value) > limit)
      }),
    )
  })

  test('ends on any text, JSON or not', () => {
    const text = fc.string({ unit: fc.constantFrom('"', '\\', '[', ']', '{', '}'), maxLength: 500 })
    fc.assert(
      fc.property(text, (body) => {
        expect(isNestedDeeper(body, 3)).toBeTypeOf('boolean')
      }),
    )
  })

  test('may be the limit and not one more', () => {
    checkDepth(nested(MAX_DEPTH))
    expect(() => checkDepth(nested(MAX_DEPTH + 1))).toThrow(AppError)
  })

  test.each([
    ['quotes', '\\"'],
    ['backslashes', '\\\\'],
  ])('is found in one pass even when %s are many', { timeout: ONE_PASS_MS }, (_what, piece) => {
    expect(isNestedDeeper(`"${piece.repeat(PIECES)}"`, 3)).toBe(false)
  })
})
