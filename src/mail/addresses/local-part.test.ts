import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { AppError } from '#base/app-error.ts'

import { canonicalLocalPart, localPartAt, parseOwnAddress, withoutPlusPart } from './local-part.ts'

const PUNYCODE = 'xn--bcher-kva.example'

describe('the local part of a site’s address', () => {
  test.each([
    ['info@shop.test', 'info'],
    ['Info@SHOP.Test', 'info'],
    ['postmaster@shop.test', 'postmaster'],
    ['o’hara@shop.test', 'o’hara'],
    ['JÜRGEN@shop.test', 'jürgen'],
    ['ju\u0308rgen@shop.test', 'jürgen'],
    ['ΟΔΟΣ@shop.test', 'οδος'],
    ['info+news@shop.test', 'info+news'],
  ])('of %s is %s', (address, localPart) => {
    expect(localPartAt('shop.test', address)).toBe(localPart)
  })

  test.each([['info@bücher.example'], ['info@BÜCHER.example'], [`info@${PUNYCODE}`]])(
    'is found in %s where the site’s domain is outside ASCII',
    (address) => {
      expect(localPartAt(PUNYCODE, address)).toBe('info')
    },
  )

  test.each([
    'info',
    'info@',
    '@shop.test',
    'info@shop.test.',
    'info@www.shop.test',
    'info@shop.tests',
    'info@other.test@shop.test',
    'a b@shop.test',
    '"info"@shop.test',
    'info@shop.test\r\nRCPT TO:<x@y.z>',
    'in\u200bfo@shop.test',
  ])('is not found in %j', (address) => {
    expect(localPartAt('shop.test', address)).toBeUndefined()
  })

  test('has one spelling', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), (text) => {
        const once = canonicalLocalPart(text)
        expect(canonicalLocalPart(once)).toBe(once)
        expect(canonicalLocalPart(text.normalize('NFD'))).toBe(once)
      }),
    )
  })
})

describe('a new address', () => {
  test.each([
    ['with a plus part', 'info+news@shop.test', /without it/],
    ['of 65 octets', `${'é'.repeat(32)}a@shop.test`, /64 octets/],
    ['that begins with a dot', '.info@shop.test', /dot/],
    ['that ends with a dot', 'info.@shop.test', /dot/],
    ['with two dots in a row', 'in..fo@shop.test', /dot/],
    ['of another domain', 'info@other.test', /"info@shop.test"/],
    ['that is none', 'info', /no address of this site/],
  ])('%s is refused in words', (_what, address, words) => {
    expect(() => parseOwnAddress('shop.test', address, 'address')).toThrow(AppError)
    expect(() => parseOwnAddress('shop.test', address, 'address')).toThrow(words)
  })

  test('of 64 octets is taken', () => {
    const localPart = 'é'.repeat(32)
    expect(parseOwnAddress('shop.test', `${localPart}@shop.test`, 'address')).toBe(localPart)
  })
})

test.each([
  ['info+news', 'info'],
  ['info+a+b', 'info'],
  ['info+', 'info'],
  ['info', undefined],
  ['+news', undefined],
])('%s without its plus part is %s', (localPart, base) => {
  expect(withoutPlusPart(localPart)).toBe(base)
})
