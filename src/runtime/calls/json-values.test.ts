import { expect, test } from 'vitest'

import { checkJsonSize } from '#base/json-depth.ts'

const listOf = (count: number, value: string) => `[${Array(count).fill(value).join()}]`

test('as many values as the service walks in one go pass, and no more', () => {
  expect(() => checkJsonSize(listOf(100_000, '1'))).not.toThrow()
  expect(() => checkJsonSize(listOf(100_001, '1'))).toThrow('more than 100000 values')
  expect(() => checkJsonSize(listOf(50_001, '[1,2]'))).toThrow('more than 100000 values')
})

test('as many fields of objects pass, however they are nested, and no more', () => {
  expect(() => checkJsonSize(listOf(12_500, '{"a":1,"b":{}}'))).not.toThrow()
  expect(() => checkJsonSize(listOf(12_501, '{"a":1,"b":{}}'))).toThrow('more than 25000 fields')
  expect(() => checkJsonSize(JSON.stringify({ text: ':'.repeat(100_000) }))).not.toThrow()
})

test('a comma in a text counts nothing', () => {
  expect(() => checkJsonSize(JSON.stringify({ text: `\\",${','.repeat(200_000)}"` }))).not.toThrow()
})

test('the depth is held against its bound in the same pass, however many values there are', () => {
  const deep = `${'['.repeat(11)}${']'.repeat(11)}`
  expect(() => checkJsonSize(listOf(50_000, '1'), 10)).not.toThrow()
  expect(() => checkJsonSize(`[${listOf(50_000, '1')},${deep}]`, 10)).toThrow(
    'deeper than 10 levels',
  )
  expect(() => checkJsonSize(deep, 10)).toThrow('deeper than 10 levels')
})
