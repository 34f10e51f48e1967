import { describe, expect, test } from 'vitest'

import type { AttributeValue, Item } from '#runtime/tables/items/attribute-value.ts'
import { plainItem } from '#runtime/tables/items/plain-json.ts'
import { readPlainItem } from '#runtime/tables/items/plain-value.ts'

import { applyUpdate } from './apply-update.ts'
import { type BoundExpressions, type ExpressionField, Expressions } from './expressions.ts'
import { itemMatches } from './matches.ts'
import { project } from './project.ts'

const expressions = new Expressions()
const NAMES = { '#proto': '__proto__', '#ctor': 'constructor' }

function bind(
  field: ExpressionField,
  text: string,
  values: Record<string, unknown> = {},
): BoundExpressions {
  const names = Object.entries(NAMES).filter(([name]) => text.includes(name))
  return expressions.bind(
    {
      [field]: text,
      ...(names.length > 0 && { expressionAttributeNames: Object.fromEntries(names) }),
      ...(Object.keys(values).length > 0 && { expressionAttributeValues: values }),
    },
    [field],
  )
}

describe('a condition', () => {
  const item = readPlainItem({
    n: 10,
    s: 'banana',
    b: { $binary: 'AQID' },
    blank: '',
    wrong: false,
    nothing: null,
    tags: { $set: ['red', 'green'] },
    nums: { $set: [1, 5] },
    seq: ['a', { deep: [1] }, false],
    doc: { x: 1, y: { z: 2 } },
    high: '\u{1F600}',
  })
  const holds = (text: string, values?: Record<string, unknown>): boolean => {
    const { condition } = bind('conditionExpression', text, values)
    if (condition === undefined) throw new Error('No condition')
    return itemMatches(condition, item)
  }

  test.each<[string, Record<string, unknown> | undefined]>([
    ['n > :v', { ':v': 9 }],
    ['s < :v', { ':v': 'banana_' }],
    ['high > :v', { ':v': '\uFFFD' }],
    ['absent <> :v', { ':v': 1 }],
    ['absent <> gone', undefined],
    ['s <> :v', { ':v': 1 }],
    ['n BETWEEN :v AND :w', { ':v': 10, ':w': 20 }],
    ['s IN (:v, :w)', { ':v': 'apple', ':w': 'banana' }],
    ['blank IN (:v)', { ':v': '' }],
    ['tags = :v', { ':v': { $set: ['green', 'red'] } }],
    ['doc = :v', { ':v': { y: { z: 2 }, x: 1 } }],
    ['seq[1] = :v', { ':v': { deep: [1] } }],
    ['attribute_exists(nothing) AND attribute_not_exists(seq[3])', undefined],
    ['attribute_type(wrong, :v) AND attribute_type(blank, :w)', { ':v': 'BOOL', ':w': 'S' }],
    ['begins_with(s, :v) AND begins_with(b, :w)', { ':v': 'ban', ':w': { $binary: 'AQI=' } }],
    ['begins_with(:v, blank)', { ':v': 'x' }],
    ['contains(s, :v) AND contains(tags, :w)', { ':v': 'nan', ':w': 'red' }],
    ['contains(nums, :v) AND contains(seq, :w)', { ':v': 5, ':w': false }],
    ['contains(seq, :v)', { ':v': { deep: [1] } }],
    ['contains(b, :v)', { ':v': { $binary: 'AgM=' } }],
    ['size(s) = :v AND size(blank) = :w', { ':v': 6, ':w': 0 }],
    [
      'size(b) = :v AND size(seq) = :v AND size(tags) = :w AND size(doc) = :w',
      { ':v': 3, ':w': 2 },
    ],
    ['n = :v OR n = :v AND n = :w', { ':v': 10, ':w': 11 }],
    ['NOT n = :w AND n = :v', { ':v': 10, ':w': 11 }],
  ])('holds: %s', (text, values) => {
    expect(holds(text, values)).toBe(true)
    expect(holds(`NOT (${text})`, values)).toBe(false)
  })

  test.each<[string, Record<string, unknown> | undefined]>([
    ['absent = gone', undefined],
    ['absent <= gone', undefined],
    ['absent < :v', { ':v': 1 }],
    ['s > :v', { ':v': 1 }],
    ['tags < nums', undefined],
    ['wrong < nothing', undefined],
    ['n BETWEEN absent AND :v', { ':v': 20 }],
    ['size(n) = :v', { ':v': 1 }],
    ['doc.x.y = :v', { ':v': 1 }],
    ['doc[0] = :v', { ':v': 1 }],
    ['attribute_exists(#proto) OR attribute_exists(#ctor)', undefined],
    ['attribute_exists(doc.#ctor)', undefined],
    ['contains(s, n)', undefined],
    ['begins_with(n, s)', undefined],
  ])('does not hold: %s', (text, values) => {
    expect(holds(text, values)).toBe(false)
  })
})

describe('an update', () => {
  const KEY = readPlainItem({ pk: 'p' })
  const after = (
    text: string,
    before: Record<string, unknown> | undefined,
    values?: Record<string, unknown>,
  ): unknown => {
    const { update } = bind('updateExpression', text, values)
    if (update === undefined) throw new Error('No update')
    const stored = before && readPlainItem({ pk: 'p', ...before })
    const text0 = JSON.stringify(stored)
    const item = applyUpdate(update, { stored, key: KEY })
    if (item === undefined) return undefined
    const { pk, ...rest } = plainItem(item)
    expect(pk).toBe('p')
    expect(JSON.stringify(stored), 'the item before is left alone').toBe(text0)
    return rest
  }

  test.each<
    [string, Record<string, unknown> | undefined, Record<string, unknown> | undefined, unknown]
  >([
    ['SET b = a, c = b', { a: 1, b: 2 }, undefined, { a: 1, b: 1, c: 2 }],
    ['REMOVE a SET b = a', { a: 1 }, undefined, { b: 1 }],
    ['SET n = n - :v', { n: 1 }, { ':v': 0.9 }, { n: 0.1 }],
    ['SET n = if_not_exists(n, :z) + :v', {}, { ':v': 1, ':z': 0 }, { n: 1 }],
    ['SET l = list_append(if_not_exists(l, :e), :v)', {}, { ':v': [1], ':e': [] }, { l: [1] }],
    ['REMOVE l[1] SET l[3] = :v', { l: [2, 3, 4, 5, 6, 7] }, { ':v': 17 }, { l: [2, 4, 17, 6, 7] }],
    ['SET l[3] = :v REMOVE l[1]', { l: [2, 3, 4, 5, 6, 7] }, { ':v': 17 }, { l: [2, 4, 17, 6, 7] }],
    [
      'SET l[84] = :a, l[37] = :b, l[17] = :c',
      { l: ['x'] },
      { ':a': 'a', ':b': 'b', ':c': 'c' },
      { l: ['x', 'c', 'b', 'a'] },
    ],
    ['REMOVE l[17], m.nothing, absent', { l: [1], m: {} }, undefined, { l: [1], m: {} }],
    ['REMOVE m.a, l[0]', { m: { a: 1 }, l: [1] }, undefined, { m: {}, l: [] }],
    ['REMOVE x', undefined, undefined, undefined],
    ['REMOVE x.y, z[0]', undefined, undefined, undefined],
    ['DELETE s :w', undefined, { ':w': { $set: ['a'] } }, undefined],
    ['REMOVE x SET a = :v', undefined, { ':v': 1 }, { a: 1 }],
    ['DELETE s :w ADD n :v', undefined, { ':v': 1, ':w': { $set: ['a'] } }, { n: 1 }],
    [
      'SET m.a.b[0].c = :v',
      { m: { a: { b: [{ c: 1, d: 2 }] } } },
      { ':v': 9 },
      { m: { a: { b: [{ c: 9, d: 2 }] } } },
    ],
    ['SET c = a ADD a :v', { a: 1 }, { ':v': 1 }, { a: 2, c: 1 }],
    ['SET m.me = m', { m: { a: 1 } }, undefined, { m: { a: 1, me: { a: 1 } } }],
    ['ADD n :v, s :w', undefined, { ':v': 7, ':w': { $set: ['x'] } }, { n: 7, s: { $set: ['x'] } }],
    [
      'ADD s :w',
      { s: { $set: ['a'] } },
      { ':w': { $set: ['a', 'b'] } },
      { s: { $set: ['a', 'b'] } },
    ],
    [
      'DELETE s :w',
      { s: { $set: ['a', 'b'] } },
      { ':w': { $set: ['b', 'c'] } },
      { s: { $set: ['a'] } },
    ],
    ['DELETE s :w', { s: { $set: ['a'] } }, { ':w': { $set: ['a'] } }, {}],
    ['DELETE s :w', {}, { ':w': { $set: ['a'] } }, {}],
    ['SET m.#ctor = :v', { m: {} }, { ':v': 1 }, { m: { constructor: 1 } }],
  ])('"%s" of %j', (text, before, values, expected) => {
    expect(after(text, before, values)).toEqual(expected)
  })

  const PATH = 'The document path provided in the update expression is invalid for update'
  const TYPE = 'An operand in the update expression has an incorrect data type'
  const MISSING = 'The provided expression refers to an attribute that does not exist in the item'
  test.each<
    [string, Record<string, unknown> | undefined, Record<string, unknown> | undefined, string]
  >([
    ['SET a.c = :v', { a: 'x' }, { ':v': 1 }, PATH],
    ['SET a[0] = :v', { a: { x: 1 } }, { ':v': 1 }, PATH],
    ['SET a.b = :v', undefined, { ':v': 1 }, PATH],
    ['REMOVE a.b', {}, undefined, PATH],
    ['SET #proto.a = :v', {}, { ':v': 1 }, PATH],
    ['SET a = b', {}, undefined, MISSING],
    ['SET x = :v, y = x', {}, { ':v': 1 }, MISSING],
    ['SET a = a + :v', { a: 'x' }, { ':v': 1 }, TYPE],
    ['SET a = list_append(a, :v)', { a: 1 }, { ':v': [] }, TYPE],
    ['ADD a :v', { a: 'x' }, { ':v': 1 }, TYPE],
    ['DELETE a :v', { a: { $set: [1] } }, { ':v': { $set: ['x'] } }, TYPE],
    ['ADD a :v', { a: { $number: '1e50' } }, { ':v': 1 }, 'Number overflow.'],
  ])('"%s" of %j is refused', (text, before, values, message) => {
    expect(() => after(text, before, values)).toThrow(message)
  })

  test('puts nothing deeper than 32 levels', () => {
    const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)])
    expect(() => after('SET m.a = b', { m: {}, b: nested(31) })).toThrow(
      'Nesting Levels have exceeded',
    )
  })
})

describe('a projection', () => {
  const item = readPlainItem({ a: { b: 1, c: 2 }, l: ['x', 'y', 'z', [1, 2]], n: null })
  const kept = (text: string): unknown => {
    const { projection } = bind('projectionExpression', text)
    return projection && plainItem(project(projection, item))
  }

  test.each<[string, unknown]>([
    ['a.c, l[2], l[0]', { a: { c: 2 }, l: ['x', 'z'] }],
    ['l[3][1], n', { l: [[2]], n: null }],
    ['a.d, l[9], n.x, absent', {}],
    ['a', { a: { b: 1, c: 2 } }],
    ['#proto, #ctor', {}],
  ])('"%s" keeps %j', (text, expected) => {
    expect(kept(text)).toEqual(expected)
  })

  test('is refused when one path contains another', () => {
    expect(() => kept('a.b, a')).toThrow(
      'Invalid ProjectionExpression: Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a, b], path two: [a]',
    )
  })
})

test('a deep list is compared without harm', () => {
  const deep = (value: AttributeValue, levels: number): AttributeValue =>
    levels === 0 ? value : deep({ L: [value] }, levels - 1)
  const item: Item = { a: deep({ N: '1' }, 31), b: deep({ N: '1' }, 31) }
  const { condition } = bind('conditionExpression', 'a = b')
  expect(condition && itemMatches(condition, item)).toBe(true)
})
