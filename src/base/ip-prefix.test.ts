import { describe, expect, test } from 'vitest'

import { ipPrefix } from './ip-prefix.ts'

describe('the network that tries come from', () => {
  test.each([
    ['an IPv4 address is itself', '203.0.113.7', '203.0.113.7'],
    ['a mapped one is the IPv4 address', '::ffff:203.0.113.7', '203.0.113.7'],
    ['so it is in capitals', '::FFFF:203.0.113.7', '203.0.113.7'],
    ['an IPv6 address is its /64', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['so is its neighbour', '2001:db8:1:2:ffff::1', '2001:db8:1:2::/64'],
    ['another /64 is another', '2001:db8:1:3::1', '2001:db8:1:3::/64'],
    ['zeros are written out', '2001:db8::1', '2001:db8:0:0::/64'],
    ['spellings do not matter', '2001:0DB8:0:0:0::1', '2001:db8:0:0::/64'],
    ['loopback', '::1', '0:0:0:0::/64'],
    ['a zone is left out', 'fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['IPv4 in the last groups', '64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
    ['IPv4 after seven groups', '1:2:3:4:5:6:192.0.2.1', '1:2:3:4::/64'],
    ['what is no address stays', 'unix', 'unix'],
    ['nothing stays', '', ''],
  ])('%s', (_what, address, network) => {
    expect(ipPrefix(address)).toBe(network)
  })

  test.each([
    [56, '2001:db8:1:2345::1', '2001:db8:1:2300::/56'],
    [56, '2001:db8:1:23ff:2::', '2001:db8:1:2300::/56'],
    [56, '2001:db8:1:2400::1', '2001:db8:1:2400::/56'],
    [48, '2001:db8:1:2345::1', '2001:db8:1::/48'],
    [48, '2001:db8:2::1', '2001:db8:2::/48'],
    [48, '203.0.113.7', '203.0.113.7'],
    [56, '::ffff:203.0.113.7', '203.0.113.7'],
  ] as const)('of %i bits, of %s', (bits, address, network) => {
    expect(ipPrefix(address, bits)).toBe(network)
  })
})
