import { describe, expect, test } from 'vitest'

import { TrustedProxies } from './trusted-proxies.ts'

const proxies = new TrustedProxies(['10.0.0.0/8', '192.0.2.7', '2001:db8::/32'])

describe('trusted proxies', () => {
  test.each(['10.1.2.3', '192.0.2.7', '::ffff:10.1.2.3', '2001:db8::1'])(
    'include %s',
    (address) => {
      expect(proxies.trusts(address)).toBe(true)
    },
  )

  test.each(['11.0.0.1', '192.0.2.8', '2001:db9::1', '', 'not an address'])(
    'do not include %j',
    (address) => {
      expect(proxies.trusts(address)).toBe(false)
    },
  )

  test.each([
    [['203.0.113.9'], '203.0.113.9'],
    [['203.0.113.9', '10.0.0.2'], '203.0.113.9'],
    // What the client wrote itself is on the left and is not believed.
    [['1.1.1.1', '203.0.113.9', '10.0.0.2'], '203.0.113.9'],
    [[], '10.0.0.1'],
    [['10.0.0.3'], '10.0.0.3'],
    [['203.0.113.9:1001'], '203.0.113.9'],
    [['[2001:db9::1]:443', '10.0.0.2:80'], '2001:db9::1'],
    [['::ffff:203.0.113.9'], '203.0.113.9'],
    // No address: it counts as the proxy that knows no better.
    [['guess-1'], '10.0.0.1'],
    [['203.0.113.9', 'unknown'], '10.0.0.1'],
    [['203.0.113.9', '_hidden', '10.0.0.2'], '10.0.0.2'],
    [['203.0.113.9, 8.8.8.8'], '10.0.0.1'],
  ])('find the client behind %j', (hops, client) => {
    expect(proxies.clientOf('10.0.0.1', hops)).toBe(client)
  })

  test('give other addresses no say', () => {
    expect(proxies.clientOf('203.0.113.1', ['203.0.113.9'])).toBe('203.0.113.1')
  })

  test('are none when none is configured', () => {
    expect(new TrustedProxies([]).trusts('127.0.0.1')).toBe(false)
  })
})
