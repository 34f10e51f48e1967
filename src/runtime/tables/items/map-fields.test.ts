import { expect, test } from 'vitest'

import { mapFields } from './map-fields.ts'

test('maps the values under their names', () => {
  expect(mapFields({ a: 1, b: 2 }, (value) => value + 1)).toEqual({ a: 2, b: 3 })
})

test('keeps a field called __proto__ as a field', () => {
  const mapped = mapFields(JSON.parse('{"__proto__":{"admin":true},"a":1}'), (value) => value)
  expect(JSON.stringify(mapped)).toBe('{"__proto__":{"admin":true},"a":1}')
  expect(Object.getPrototypeOf(mapped)).toBe(Object.prototype)
})
