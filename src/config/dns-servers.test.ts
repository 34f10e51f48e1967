import { describe, expect, test } from 'vitest'

import { loadConfig } from './load.ts'

describe('CROFT_DNS_SERVERS', () => {
  test.each([
    ['192.0.2.53', [['192.0.2.53', 53]]],
    [
      '127.0.0.1:5353, 2001:db8::53',
      [
        ['127.0.0.1', 5353],
        ['2001:db8::53', 53],
      ],
    ],
    ['[2001:db8::53]:5353', [['2001:db8::53', 5353]]],
    ['[::1]', [['::1', 53]]],
  ])('may be %s', (text, servers) => {
    const { dnsServers } = loadConfig({ CROFT_DNS_SERVERS: text }).config
    expect(dnsServers?.map(({ address, port }) => [address, port])).toEqual(servers)
    expect(Object.isFrozen(dnsServers)).toBe(true)
  })

  test.each([
    'ns.example.com',
    '192.0.2.53:0',
    '192.0.2.53:65536',
    '[192.0.2',
    '192.0.2.53,',
    '::1:x',
  ])('is not %s', (text) => {
    expect(() => loadConfig({ CROFT_DNS_SERVERS: text })).toThrow('IP addresses of DNS servers')
  })

  test('is left to the system', () => {
    expect(loadConfig({}).config.dnsServers).toBeUndefined()
  })
})
