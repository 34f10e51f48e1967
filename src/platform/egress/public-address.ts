import { BlockList, isIPv4, isIPv6 } from 'node:net'

/** IANA's special-purpose registries (RFC 6890 and successors), multicast and the reserved class E. */
const NOT_PUBLIC_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]

/** Only 2000::/3 is global unicast; these parts of it are not, or carry an IPv4 address that the sender chooses. */
const GLOBAL_V6 = '2000::/3'
const NOT_PUBLIC_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20']

const notPublic = blockList([...NOT_PUBLIC_V4, ...NOT_PUBLIC_V6])
const globalUnicast = blockList([GLOBAL_V6])

/** Whether an address is one of the public internet. Mapped, translated and tunnelled IPv4 is not. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !notPublic.check(address, 'ipv4')
  if (!isIPv6(address) || address.includes('%')) return false
  return globalUnicast.check(address, 'ipv6') && !notPublic.check(address, 'ipv6')
}

function blockList(blocks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const block of blocks) {
    const [network = '', prefix = ''] = block.split('/')
    list.addSubnet(network, Number(prefix), isIPv4(network) ? 'ipv4' : 'ipv6')
  }
  return list
}
