import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { domainFault, hostName, parseDomain } from './domain.ts'

describe('a domain', () => {
  test.each([
    'localhost',
    'shop.test',
    'a.b.c.example',
    'xn--bcher-kva.example',
    '1password.com',
    `${'a'.repeat(63)}.test`,
  ])('may be %s', (domain) => {
    expect(parseDomain(domain)).toBe(domain)
  })

  test.each([
    ['', 'is empty'],
    ['Shop.Test', 'write it in lower case: "shop.test"'],
    ['bücher.example', 'punycode'],
    ['shop.test:8080', 'no port'],
    ['https://shop.test', 'no scheme'],
    ['shop.test.', 'dot at the end'],
    ['shop', 'needs a dot'],
    ['shop..test', '"" cannot be part'],
    ['-shop.test', '"-shop" cannot be part'],
    ['shop_1.test', '"shop_1" cannot be part'],
    ['*.shop.test', '"*" cannot be part'],
    ['127.0.0.1', 'is an address'],
    [`${'a'.repeat(64)}.test`, 'at most 63'],
    [`${'a.'.repeat(130)}test`, 'longer than 253'],
  ])('may not be %j', (domain, fault) => {
    expect(domainFault(domain)).toContain(fault)
    expect(() => parseDomain(domain)).toThrow('domain: ')
  })
})

describe('the name of a host', () => {
  test.each([
    ['shop.test', 'shop.test'],
    ['Shop.Test:8080', 'shop.test'],
    ['shop.test.', 'shop.test'],
    ['shop.test.:8080', 'shop.test'],
    ['[::1]:8080', '[::1]'],
    ['[::1]', '[::1]'],
    ['[::1', '[::1'],
    ['', ''],
    [':8080', ':8080'],
  ])('in %j is %j', (host, name) => {
    expect(hostName(host)).toBe(name)
  })

  test('never throws', () => {
    expect(() =>
      fc.assert(fc.property(fc.string(), (host) => hostName(host) !== null)),
    ).not.toThrow()
  })
})
