import { describe, expect, test } from 'vitest'

import { canonicalNumber } from './number.ts'
import { attributeSize, checkItemSize, itemSize, MAX_ITEM_BYTES, numberSize } from './size.ts'

describe('the size of an item', () => {
  /** As measured at the limit of 400 KiB; the guide's own rule says less. */
  test.each([
    ['0', 1],
    ['1', 2],
    ['12', 2],
    ['123', 3],
    ['1234', 3],
    ['12345678901234567890123456789012345678', 20],
    ['0042', 2],
    ['100', 2],
    ['1010', 3],
    ['0.0000001', 2],
    ['1E125', 2],
    ['1E-100', 2],
    ['1.5', 3],
    ['1.200', 3],
    ['1.234', 4],
    ['3.14159', 5],
    ['123456', 4],
    ['100.5', 4],
    ['0.15', 2],
    ['-42', 3],
    ['-0', 1],
  ])('counts the number %s as %i bytes', (text, bytes) => {
    expect(numberSize(canonicalNumber(text))).toBe(bytes)
  })

  test('counts names and values in bytes', () => {
    expect(itemSize({ é: { S: 'é' } })).toBe(4)
    expect(itemSize({ b: { B: 'AAE=' } })).toBe(3)
    expect(attributeSize({ BOOL: false })).toBe(1)
    expect(attributeSize({ NULL: true })).toBe(1)
    expect(attributeSize({ SS: ['a', 'bc'] })).toBe(3)
    expect(attributeSize({ L: [] })).toBe(3)
    expect(attributeSize({ L: [{ S: 'a' }] })).toBe(5)
    expect(attributeSize({ M: { k: { S: 'a' } } })).toBe(6)
  })

  test('may be 400 KiB and not a byte more', () => {
    const full = { p: { S: 'x'.repeat(MAX_ITEM_BYTES - 1) } }
    const over = { p: { S: 'x'.repeat(MAX_ITEM_BYTES) } }
    expect(() => checkItemSize(full)).not.toThrow()
    expect(() => checkItemSize(over)).toThrow('Item size has exceeded the maximum allowed size')
    expect(() => checkItemSize(over, 'update')).toThrow(
      'Item size to update has exceeded the maximum allowed size',
    )
  })
})
