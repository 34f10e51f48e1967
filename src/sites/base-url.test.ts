import { describe, expect, test } from 'vitest'

import { siteBaseUrl } from './base-url.ts'

describe('siteBaseUrl', () => {
  test.each([
    ['http://localhost:8080', 'shop.test', 'http://shop.test:8080'],
    ['https://croft.example', 'shop.test', 'https://shop.test'],
    ['http://localhost:8080/', 'localhost', 'http://localhost:8080'],
    ['https://croft.example/backend', 'croft.example', 'https://croft.example/backend'],
    ['https://croft.example/backend', 'shop.test', 'https://shop.test'],
  ])('of %s for %s is %s', (baseUrl, domain, expected) => {
    expect(siteBaseUrl(baseUrl, domain)).toBe(expected)
  })
})
