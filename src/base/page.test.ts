import { randomBytes } from 'node:crypto'

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { PageTokens, pageRows } from './page.ts'

const tokens = new PageTokens(randomBytes(32))

describe('a page token', () => {
  test('opens to the key that it was sealed with', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.array(fc.string()), (key, scope) => {
        expect(tokens.open(scope, tokens.seal(scope, key) ?? '')).toBe(key)
      }),
    )
  })

  test('is refused for every other list', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), fc.array(fc.string()), (scope, other) => {
        fc.pre(JSON.stringify(scope) !== JSON.stringify(other))
        const token = tokens.seal(scope, 'key') ?? ''
        expect(() => tokens.open(other, token)).toThrow('nextToken')
      }),
    )
  })

  test('is refused after any change', () => {
    const token = Buffer.from(tokens.seal(['s'], 'key') ?? '', 'base64url')
    for (let index = 0; index < token.length; index += 1) {
      const changed = Buffer.from(token)
      changed.writeUInt8(changed.readUInt8(index) ^ 1, index)
      expect(() => tokens.open(['s'], changed.toString('base64url'))).toThrow('nextToken')
    }
  })

  test.each(['', '***', 'AAAA'])('is refused when it is %j', (token) => {
    expect(() => tokens.open(['s'], token)).toThrow('nextToken')
  })

  test('ends with the list', () => {
    expect(tokens.seal(['s'], undefined)).toBeNull()
  })
})

describe('page rows', () => {
  test('name the last key only when one more row was found', () => {
    const keyOf = (row: string) => row
    expect(pageRows(['a', 'b', 'c'], 2, keyOf)).toEqual({ items: ['a', 'b'], lastKey: 'b' })
    expect(pageRows(['a', 'b'], 2, keyOf)).toEqual({ items: ['a', 'b'], lastKey: undefined })
    expect(pageRows([], 2, keyOf)).toEqual({ items: [], lastKey: undefined })
  })
})
