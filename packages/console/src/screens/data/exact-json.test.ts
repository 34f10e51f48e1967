import { expect, test } from 'vitest'

import { isSameValue, parseExact, writeExact, writeItem } from './exact-json.ts'

test.each([
  '12345678901234567890',
  '0.1234567890123456789',
  '-1e40',
  '[1,2.5,-3]',
  '{"a":{"b":[null,true,"12345678901234567890 \\" 1e9"]}}',
  '{"$set":[1,12345678901234567890]}',
  '{"$binary":"AAAA"}',
  '{"$map":{"$number":"5"}}',
])('%s keeps every digit when it is read and written', (text) => {
  expect(writeExact(parseExact(text))).toBe(text)
})

test('reads a number that a double does not hold as a marker with its digits', () => {
  expect(parseExact('[9007199254740993, 15, "9007199254740993"]')).toEqual([
    { $number: '9007199254740993' },
    15,
    '9007199254740993',
  ])
})

test.each(['', '{', '01', '{"a":1,}', '"open 12345678901234567890', '12345678901234567890x'])(
  'refuses %j',
  (text) => {
    expect(() => parseExact(text)).toThrow(SyntaxError)
  },
)

test('writes an attribute of an item as it is named, and lines for people', () => {
  expect(writeItem({ $number: '1' })).toBe('{"$number":"1"}')
  expect(writeItem({ b: { c: [1, {}] }, a: 'x' }, { isPretty: true })).toBe(
    '{\n  "b": {\n    "c": [\n      1,\n      {}\n    ]\n  },\n  "a": "x"\n}',
  )
})

test('compares values by what they hold', () => {
  expect(isSameValue({ a: 1, b: { $number: '2' } }, { b: 2, a: 1 })).toBe(true)
  expect(isSameValue([1, 2], [2, 1])).toBe(false)
  expect(isSameValue(undefined, null)).toBe(false)
  expect(isSameValue('1', 1)).toBe(false)
})
