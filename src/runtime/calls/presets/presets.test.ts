import { describe, expect, test } from 'vitest'

import { insideFolder, outsideFolder, ownFolder } from '#runtime/buckets/owned-folder.ts'
import { parsePreset } from '#runtime/operations/preset-binding.ts'
import { presetOf } from '#runtime/operations/presets.ts'
import { conjunction } from '#runtime/tables/expressions/conjunction.ts'

import { SealedPageTokens, presetRequest } from './preset-runner.ts'

function requestOf(preset: object, payload: unknown) {
  const binding = parsePreset({ preset: 'ddb.put', resourceId: 'r', ...preset })
  const facts = presetOf(binding.preset)
  return facts && presetRequest(binding, facts, payload)
}

describe('a request', () => {
  test('is what was sent, under what is fixed', () => {
    const fixed = { item: { kind: 'note' }, conditionExpression: 'attribute_not_exists(id)' }
    expect(requestOf({ fixed }, { Item: { id: '1', kind: 'other' } })).toEqual({
      item: { id: '1', kind: 'note' },
      conditionExpression: 'attribute_not_exists(id)',
    })
    expect(requestOf({ fixed: { key: { id: '1' } }, preset: 'ddb.get' }, null)).toEqual({
      key: { id: '1' },
    })
  })

  test.each<[string, object, unknown, RegExp]>([
    ['no object', {}, [1], /payload: must be a JSON object/],
    [
      'a field that is not open',
      {},
      { item: {}, returnValues: 'ALL_OLD' },
      /payload\.returnValues/,
    ],
    [
      'the same in the other spelling',
      {},
      { item: {}, ReturnValues: 'ALL_OLD' },
      /payload\.ReturnValues/,
    ],
    ['a field in both spellings', {}, { item: {}, Item: {} }, /same field/],
    [
      'a field that is fixed',
      { fixed: { conditionExpression: 'a = b' } },
      { item: {}, ConditionExpression: 'a = a' },
      /payload\.conditionExpression: is fixed/,
    ],
    ['a wrong value', {}, { item: 'text' }, /payload\.item: must be a JSON object/],
    [
      'a prototype',
      {},
      JSON.parse('{"item":{},"__proto__":{"returnValues":"ALL_OLD"}}'),
      /__proto__/,
    ],
  ])('is refused with %s', (_what, preset, payload, words) => {
    expect(() => requestOf(preset, payload)).toThrow(words)
  })
})

describe('a conjunction', () => {
  test.each([
    ['a = :b', 'o = :o AND (a = :b)'],
    ['a = :b OR c = :d', 'o = :o AND (a = :b OR c = :d)'],
    ['(a = :b)', 'o = :o AND (a = :b)'],
    ['(a = :b) OR (c = :d)', 'o = :o AND ((a = :b) OR (c = :d))'],
    ['NOT a = :b', 'o = :o AND (NOT a = :b)'],
    ['a BETWEEN :b AND :c', 'o = :o AND (a BETWEEN :b AND :c)'],
  ])('with %s is %s', (theirs, text) => {
    expect(conjunction('filterExpression', 'o = :o', theirs)).toBe(text)
  })

  test.each([
    'a = :b) OR (a = :b',
    ') OR (',
    'a = :b OR',
    'OR a = :b',
    '',
    '(a = :b',
    `${'a = :b OR '.repeat(370)}a = :b`,
  ])('takes nothing that is not a whole condition, like %j', (theirs) => {
    expect(() => conjunction('filterExpression', 'o = :o', theirs)).toThrow(/^Invalid FilterExpr/)
  })
})

describe('a folder', () => {
  const folder = ownFolder({ prefix: 'up/' }, 'sub-1')

  test('holds every key of its owner', () => {
    expect(insideFolder(folder, 'get-object', { key: 'a/b' })).toEqual({ key: 'up/sub-1/a/b' })
    expect(insideFolder(folder, 'list-objects', {})).toEqual({ prefix: 'up/sub-1/' })
    expect(insideFolder(folder, 'list-objects', { prefix: 'a', startAfter: 'a1' })).toEqual({
      prefix: 'up/sub-1/a',
      startAfter: 'up/sub-1/a1',
    })
  })

  test.each(['', '..', '../sub-2/x', 'a/../../sub-2', './a', 'a/..', '..\\sub-2'])(
    'is not left by %j',
    (key) => {
      expect(() => insideFolder(folder, 'put-object', { key })).toThrow(/payload\.key/)
    },
  )

  test.each(['', '.', '..', 'a/b'])('is not given to the sub %j', (sub) => {
    expect(() => ownFolder({ prefix: '' }, sub)).toThrow('no folder')
  })

  test('is taken off what is answered', () => {
    expect(
      outsideFolder(folder, {
        items: [{ key: 'up/sub-1/a', size: 1 }],
        commonPrefixes: ['up/sub-1/b/'],
        nextToken: null,
      }),
    ).toEqual({ items: [{ key: 'a', size: 1 }], commonPrefixes: ['b/'], nextToken: null })
    expect(() => outsideFolder(folder, { key: 'up/sub-2/a' })).toThrow('outside')
  })
})

describe('a page token', () => {
  const tokens = new SealedPageTokens(Buffer.alloc(32, 1))

  test('tells nothing and opens for its owner alone', () => {
    const sealed = tokens.seal(['site', 'op', 'a'], 'the key of another')
    expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('another')
    expect(tokens.open(['site', 'op', 'a'], sealed)).toBe('the key of another')
    for (const scope of [
      ['site', 'op', 'b'],
      ['site', 'op2', 'a'],
    ]) {
      expect(() => tokens.open(scope, sealed)).toThrow('nextToken')
    }
    expect(() => tokens.open(['site', 'op', 'a'], 'x')).toThrow('nextToken')
  })
})
