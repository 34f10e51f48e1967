import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { jsonPlace, jsonSyntaxFault } from './json-places.ts'

const TEXT = `{
  "resources": [
    { "name": "a" },
    { "name": "b",
      "type": 7 }
  ],
  "a\\"b": { "": null }
}`

describe('the place in JSON', () => {
  test.each<[(string | number)[], number, number]>([
    [[], 1, 1],
    [['resources'], 2, 16],
    [['resources', 1], 4, 5],
    [['resources', 1, 'type'], 5, 15],
    [['a"b', ''], 7, 17],
  ])('of %j is line %i, column %i', (path, line, column) => {
    expect(jsonPlace(TEXT, path)).toEqual({ line, column })
  })

  test('of what is missing is that of what it is missing from', () => {
    expect(jsonPlace(TEXT, ['resources', 1, 'config', 'code'])).toEqual({ line: 4, column: 5 })
  })
})

describe('text that is no JSON', () => {
  test.each([
    ['', 1, 1, 'a value'],
    ['{"a": 1,\n}', 2, 1, 'name'],
    ['{"a" 1}', 1, 6, '":"'],
    ['[1\n 2]', 2, 2, '","'],
    ["{'a': 1}", 1, 2, 'double quotes'],
    ['"abc', 1, 1, 'not closed'],
    ['"a\nb"', 1, 3, 'ends at its line'],
    ['"\\x"', 1, 2, 'escape'],
    ['[01]', 1, 2, 'a value'],
    ['{} {}', 1, 4, 'more after'],
    ['[NaN]', 1, 2, 'a value'],
    ['['.repeat(100_000), 1, 1002, 'too deep'],
  ])('%j is at line %i, column %i', (text, line, column, words) => {
    const fault = jsonSyntaxFault(text)
    expect(fault).toMatchObject({ line, column })
    expect(fault?.message).toContain(words)
  })

  test('is what JSON.parse refuses, and nothing else', () => {
    const characters = fc.constantFrom(...'{}[],:"\\u0012ab-.eE+ \n\ttruefalsn'.split(''))
    const anything = fc.oneof(
      fc.string({ unit: characters, maxLength: 30 }),
      fc.json(),
      fc
        .json()
        .chain((text) => fc.nat(text.length).map((at) => text.slice(0, at) + text.slice(at + 1))),
    )
    fc.assert(
      fc.property(anything, (text) => {
        expect(jsonSyntaxFault(text) === undefined).toBe(parses(text))
      }),
      { numRuns: 2000 },
    )
  })
})

function parses(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
