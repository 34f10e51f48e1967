import { describe, expect, test } from 'vitest'

import { isLoopback, uriFault } from './registered-uri.ts'

const OWN = 'http://shop.test:8080'

describe('a redirect URI', () => {
  test.each([
    'https://app.example/callback',
    'https://app.example',
    'https://app.example:8443/a?b=c',
    'http://localhost:5173/callback',
    'http://127.0.0.1/',
    'http://[::1]:3000/cb',
    'http://shop.test:8080/other',
    'com.example.app:/callback',
    'com.example.app://callback/done',
  ])('%s is taken', (uri) => {
    expect(uriFault(uri, OWN)).toBeUndefined()
  })

  test.each([
    ['', 'printable'],
    ['/callback', 'absolute'],
    ['//app.example/cb', 'absolute'],
    ['app.example/cb', 'absolute'],
    ['https://', 'absolute'],
    ['https://app.example/a b', 'printable'],
    ['https://app.example/\n', 'printable'],
    ['https://äpp.example/', 'printable'],
    [`https://app.example/${'x'.repeat(2048)}`, '2048'],
    ['https://app.example/#', 'fragment'],
    ['https://app.example/cb#x', 'fragment'],
    ['https://ann@app.example/cb', 'user name'],
    ['https://:secret@app.example/cb', 'user name'],
    ['https://*.example/cb', 'wildcards'],
    ['http://app.example/cb', 'must be https'],
    ['http://localhost.evil.example/cb', 'must be https'],
    ['http://127.0.0.1.evil.example/cb', 'must be https'],
    ['http://shop.test/cb', 'must be https'],
    ['http://other.test:8080/cb', 'must be https'],
    ['javascript:alert(1)', 'must be https'],
    ['data:text/html,x', 'must be https'],
    ['file:///etc/passwd', 'must be https'],
    ['myapp:/callback', 'must be https'],
    ['HTTPS://app.example/cb', 'spelt "https://app.example/cb"'],
    ['https://App.Example/cb', 'spelt "https://app.example/cb"'],
    ['https://app.example:443/cb', 'spelt "https://app.example/cb"'],
    ['https:/app.example/cb', 'spelt "https://app.example/cb"'],
    ['https://app.example/a/../cb', 'spelt "https://app.example/cb"'],
    ['https://app.example\\@evil.example/', 'spelt'],
    ['https://@app.example/cb', 'spelt "https://app.example/cb"'],
    ['http://0x7f.1/cb', 'spelt "http://127.0.0.1/cb"'],
  ])('%s is refused: %s', (uri, words) => {
    expect(uriFault(uri, OWN)).toContain(words)
  })

  test('is local when its host is the visitor’s own machine', () => {
    expect(['http://localhost:1/', 'http://[::1]/', 'http://127.0.0.1/x'].map(isLoopback)).toEqual([
      true,
      true,
      true,
    ])
    expect(isLoopback('https://localhost.example/')).toBe(false)
    expect(isLoopback('com.example.app:/localhost')).toBe(false)
  })
})
