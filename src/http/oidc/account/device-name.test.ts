import { describe, expect, test } from 'vitest'

import { deviceName } from './device-name.ts'

const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1'
const ANDROID =
  'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/139.0.0.0 Mobile Safari/537.36'
const WINDOWS = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:142.0) Gecko/20100101 Firefox/142.0'
const MAC =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/139.0.0.0 Safari/537.36 Edg/139.0.0.0'

describe('a device', () => {
  test.each([
    [IPHONE, 'Safari on iPhone'],
    [ANDROID, 'Chrome on Android'],
    [WINDOWS, 'Firefox on Windows'],
    [MAC, 'Microsoft Edge on macOS'],
    ['curl/8.5.0', 'curl'],
    ['', 'An application'],
    ['<script>alert(1)</script>', 'An application'],
  ])('of the user agent %s is called "%s"', (userAgent, name) => {
    expect(String(deviceName(userAgent))).toBe(name)
  })
})

test('a device is called by no more of its user agent than a browser says', () => {
  expect(String(deviceName(`${'x'.repeat(100_000)}/1`))).toBe('An application')
})
