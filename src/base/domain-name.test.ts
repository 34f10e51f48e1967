import { describe, expect, test } from 'vitest'

import { asciiDomain, isShownDomain } from './domain-name.ts'

describe('a domain in ASCII', () => {
  test.each([
    ['one.test', 'one.test'],
    ['One.TEST', 'one.test'],
    ['ü.test', 'xn--tda.test'],
    ['Ü.test', 'xn--tda.test'],
    ['u\u0308.test', 'xn--tda.test'],
    ['xn--tda.test', 'xn--tda.test'],
    ['bücher.bücher.example', 'xn--bcher-kva.xn--bcher-kva.example'],
    ['ｅxample.com', 'example.com'],
    ['localhost', 'localhost'],
  ])('of %j is %j', (domain, ascii) => {
    expect(asciiDomain(domain)).toBe(ascii)
    expect(asciiDomain(ascii)).toBe(ascii)
  })

  test.each([
    '',
    'a b.test',
    'a..test',
    'a@b',
    'a/b',
    'ü:80',
    `${'a'.repeat(64)}.test`,
    'ü%2e.test',
  ])('is none for %j', (text) => {
    expect(asciiDomain(text)).toBeUndefined()
  })
})

test.each([
  ['one.test', true],
  ['ü.test', true],
  ['xn--tda.test', true],
  ['ｅxample.com', false],
  ['u\u0308.test', false],
  ['a b', false],
])('whether %j is written as it is shown: %j', (domain, expected) => {
  expect(isShownDomain(domain)).toBe(expected)
})
