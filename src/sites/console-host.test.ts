import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import {
  consoleHost,
  consoleLabel,
  isOfConsoles,
  labelBelow,
  labelledSite,
} from './console-host.ts'
import { domainFault, parseDomain } from './domain.ts'

const LONG = `${'a'.repeat(40)}.${'b'.repeat(40)}.example`
const label = fc.stringMatching(/^[a-z0-9](?:[a-z0-9-]{0,20}[a-z0-9])?$/)
const domains = fc
  .array(label, { minLength: 2, maxLength: 5 })
  .map((labels) => labels.join('.'))
  .filter((domain) => domainFault(domain) === undefined)

describe('the label of a console', () => {
  test.each([
    ['shop.test', 'shop-test'],
    ['localhost', 'localhost'],
    ['www.shop.example', 'www-shop-example'],
    ['corner-shop.test', 'corner--shop-test'],
    ['corner.shop.test', 'corner-shop-test'],
    ['my-shop.test', '0-my--shop-test-0'],
    ['my--shop.test', '0-my----shop-test-0'],
    ['xn--bcher-kva.example', '0-xn----bcher--kva-example-0'],
    ['a.b.test', 'a-b-test'],
    [LONG, '9374a6052e01db23a32abd11c90b4780-0'],
  ])('of %s is %s', (domain, expected) => {
    expect(consoleLabel(domain)).toBe(expected)
  })

  test.each([
    'my-shop-test-',
    '-shop-test',
    'my---shop-test',
    'xn--bcher-kva',
    'ab--c-test',
    '0-shop-test-0',
    '0--0',
    '',
    'a.b',
    'SHOP-TEST',
  ])('"%s" is of no domain that a site can have', (text) => {
    const found = labelledSite(text)
    const fault = found && 'domain' in found ? domainFault(found.domain) : 'no domain'
    expect(fault).toBeTypeOf('string')
  })

  test('leads back to the domain, and fits into a DNS name', () => {
    fc.assert(
      fc.property(domains, (domain) => {
        const made = consoleLabel(domain)
        expect(parseDomain(`${made}.console.example`)).toBe(`${made}.console.example`)
        expect(made).not.toMatch(/^..--/)
        const expected = /^[0-9a-f]{32}-0$/.test(made) ? { digest: made.slice(0, 32) } : { domain }
        expect(labelledSite(made)).toEqual(expected)
      }),
    )
  })

  test('is never that of two domains', () => {
    fc.assert(
      fc.property(domains, domains, (one, other) => {
        fc.pre(one !== other)
        expect(consoleLabel(one)).not.toBe(consoleLabel(other))
      }),
    )
  })
})

describe('the host of a console', () => {
  const site = { domain: 'shop.test', adminDomain: null }

  test('is the name of the administration where there is one', () => {
    const named = { ...site, adminDomain: 'office.test' }
    expect(consoleHost('console.example', named)).toBe('office.test')
    expect(consoleHost(undefined, named)).toBe('office.test')
    expect(consoleHost('console.example', site)).toBe('shop-test.console.example')
    expect(consoleHost(undefined, site)).toBeUndefined()
  })

  test('is directly below the console domain', () => {
    expect(labelBelow('console.example', 'shop-test.console.example')).toBe('shop-test')
    expect(labelBelow('console.example', 'console.example')).toBeUndefined()
    expect(labelBelow('console.example', 'xconsole.example')).toBeUndefined()
    expect(labelBelow(undefined, 'shop-test.console.example')).toBeUndefined()
    expect(isOfConsoles('console.example', 'console.example')).toBe(true)
    expect(isOfConsoles('console.example', 'a.b.console.example')).toBe(true)
    expect(isOfConsoles('console.example', 'shop.test')).toBe(false)
    expect(isOfConsoles(undefined, 'console.localhost')).toBe(false)
  })
})
