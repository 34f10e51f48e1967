import { expect, test } from 'vitest'

import { cellValue, writeCsvItems, writeJsonItems } from './items-text.ts'

test('writes JSON with all digits, an item on a line', () => {
  expect(writeJsonItems([{ a: { $number: '9007199254740993' } }, { b: 'x' }])).toBe(
    '[\n{"a":9007199254740993},\n{"b":"x"}\n]\n',
  )
  expect(writeJsonItems([])).toBe('[]\n')
})

test('writes CSV, with text quoted that would be read as another value', () => {
  const items = [
    { a: 'plain', b: 12 },
    { a: '12', b: { c: [1] } },
    { a: '=1+1', b: 'a,b "c"\nd' },
    { a: '' },
  ]
  expect(writeCsvItems(['a', 'b'], items)).toBe(
    ['a,b', 'plain,12', '"""12""","{""c"":[1]}"', '"""=1+1""","a,b ""c""\nd"', '"""""",', ''].join(
      '\r\n',
    ),
  )
})

test.each([
  ['', undefined],
  ['plain', 'plain'],
  ['"12"', '12'],
  ['12', 12],
  ['9007199254740993', { $number: '9007199254740993' }],
  ['[1', '[1'],
])('reads the cell %j', (text, value) => {
  expect(cellValue(text)).toEqual(value)
})
