import { describe, expect, test } from 'vitest'

import { urlFault } from './allow-list.ts'

const fault = (url: string, ...allow: string[]) => urlFault(new URL(url), allow)

describe('the egress allow-list', () => {
  test.each([
    ['https://api.example.com/x', '*'],
    ['https://api.example.com/x', 'api.example.com'],
    ['https://API.example.com./x', 'api.example.com'],
    ['https://api.example.com:8443/x', 'api.example.com'],
    ['https://api.example.com:8443/x', 'api.example.com:8443'],
    ['https://api.example.com/x', 'api.example.com:443'],
    ['https://a.b.example.com/', '*.example.com'],
    ['http://[2606:4700::1111]/', '[2606:4700::1111]'],
    ['http://[2606:4700::1111]:81/', '[2606:4700::1111]:81'],
  ])('lets %s through for %s', (url, entry) => {
    expect(fault(url, entry)).toBeUndefined()
  })

  test.each([
    ['https://evil.com/', 'example.com'],
    ['https://notexample.com/', '*.example.com'],
    ['https://example.com/', '*.example.com'],
    ['https://example.com.evil.com/', 'example.com'],
    ['https://api.example.com:8443/', 'api.example.com:443'],
    ['https://api.example.com/', 'api.example.com:8443'],
  ])('refuses %s for %s', (url, entry) => {
    expect(fault(url, entry)).toContain('allow-list')
  })

  test.each([
    ['file:///etc/passwd', 'scheme'],
    ['ftp://example.com/', 'scheme'],
    ['https://user:pass@example.com/', 'credentials'],
    ['https://example.com@evil.com/', 'credentials'],
    ['http://example.com:25/', 'port 25'],
    ['http://example.com:6379/', 'port 6379'],
  ])('refuses %s whatever is allowed', (url, why) => {
    expect(fault(url, '*')).toContain(why)
  })

  test('allows nothing when it is empty', () => {
    expect(fault('https://example.com/')).toContain('allow-list')
  })
})
