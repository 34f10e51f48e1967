import { expect, test } from 'vitest'

import { browserOf } from './admin-sessions.tsx'

test.each([
  ['Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0', 'Firefox, Linux'],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0',
    'Edge, Windows',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1',
    'Safari, iOS',
  ],
  ['curl/8.5.0', 'curl/8.5.0'],
  ['', '—'],
])('the user agent %s is %s', (userAgent, expected) => {
  expect(browserOf(userAgent)).toBe(expected)
})
