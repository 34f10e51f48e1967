import { describe, expect, test } from 'vitest'

import { formTargetOf, displayHost } from './form-targets.ts'

describe('where the answer to a form may lead', () => {
  test.each([
    ['https://app.acme.test/callback?a=b', 'https://app.acme.test', 'app.acme.test'],
    ['https://app.acme.test:8443/callback', 'https://app.acme.test:8443', 'app.acme.test'],
    ['http://localhost:3000/callback', 'http://localhost:3000', 'localhost'],
    // No source of a policy can be written for these, so their scheme stands for them.
    ['http://[::1]:3000/callback', 'http:', '[::1]'],
    [
      "https://evil.test;script-src'unsafe-inline'/",
      'https:',
      "evil.test;script-src'unsafe-inline'",
    ],
    ['https://a,b.test/', 'https:', 'a,b.test'],
    ['com.acme.app:/signed-in', 'com.acme.app:', 'com.acme.app'],
    ['com.acme.app://host/signed-in', 'com.acme.app:', 'com.acme.app'],
  ])('%s', (redirectUri, target, place) => {
    expect(formTargetOf(redirectUri)).toBe(target)
    expect(displayHost(redirectUri)).toBe(place)
  })
})
