import { describe, expect, test } from 'vitest'

import { matchesIfRange, evaluatePreconditions } from './preconditions.ts'

const HEAD = { etag: '"abc"', lastModified: new Date('2026-03-01T10:00:00.700Z') }
const AT = 'Sun, 01 Mar 2026 10:00:00 GMT'
const BEFORE = 'Sun, 01 Mar 2026 09:59:59 GMT'

describe('a condition on a read', () => {
  test.each<[Record<string, string>, 'failed' | 'unmodified' | undefined]>([
    [{}, undefined],
    [{ 'if-none-match': '"abc"' }, 'unmodified'],
    [{ 'if-none-match': 'W/"abc"' }, 'unmodified'],
    [{ 'if-none-match': '"x", W/"abc"' }, 'unmodified'],
    [{ 'if-none-match': '*' }, 'unmodified'],
    [{ 'if-none-match': '"x"' }, undefined],
    [{ 'if-none-match': 'abc' }, undefined],
    [{ 'if-none-match': '"x"', 'if-modified-since': AT }, undefined],
    [{ 'if-match': '"abc"' }, undefined],
    [{ 'if-match': '"x", "abc"' }, undefined],
    [{ 'if-match': '*' }, undefined],
    [{ 'if-match': '"x"' }, 'failed'],
    [{ 'if-match': 'W/"abc"' }, 'failed'],
    [{ 'if-match': '"abc"', 'if-unmodified-since': BEFORE }, undefined],
    [{ 'if-match': '"x"', 'if-none-match': '"abc"' }, 'failed'],
    [{ 'if-unmodified-since': AT }, undefined],
    [{ 'if-unmodified-since': BEFORE }, 'failed'],
    [{ 'if-unmodified-since': 'yesterday' }, undefined],
    [{ 'if-modified-since': AT }, 'unmodified'],
    [{ 'if-modified-since': BEFORE }, undefined],
    [{ 'if-modified-since': 'never' }, undefined],
  ])('%j: %s', (headers, outcome) => {
    expect(evaluatePreconditions(new Headers(headers), HEAD)).toBe(outcome)
  })

  test.each<[Record<string, string>, boolean]>([
    [{}, true],
    [{ 'if-range': '"abc"' }, true],
    [{ 'if-range': 'W/"abc"' }, false],
    [{ 'if-range': '"x"' }, false],
    [{ 'if-range': AT }, false],
  ])('%j lets a range through: %s', (headers, holds) => {
    expect(matchesIfRange(new Headers(headers), HEAD)).toBe(holds)
  })
})
