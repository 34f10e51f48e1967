import { expect, test } from 'vitest'

import { objectUrl } from './object-url.ts'

test('a signed address is on the origin of the console, whatever it names', () => {
  const origin = 'https://admin.shop.test'
  expect(objectUrl('http://shop.test:8080/objects/a?signature=b', origin)).toBe(
    'https://admin.shop.test/objects/a?signature=b',
  )
  expect(objectUrl('javascript:alert(1)', origin)).toMatch(/^https:\/\/admin\.shop\.test/)
})
