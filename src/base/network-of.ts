import { isIPv6 } from 'node:net'

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i
/** A provider gives one customer the addresses that share these of the eight groups. */
const NETWORK_GROUPS = 4

/** What counts as one source of tries: an IPv4 address, or the /64 of an IPv6 address. Anything else is taken as it is. */
export function networkOf(address: string): string {
  const mapped = MAPPED.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  const [bare = ''] = address.split('%')
  if (!isIPv6(bare)) return address
  return `${groupsOf(bare).slice(0, NETWORK_GROUPS).join(':')}::/64`
}

/** The first groups are never written as an IPv4 address, so its two groups at the end need not be right. */
function groupsOf(address: string): string[] {
  const [head = '', tail] = address.split('::')
  const before = split(head)
  const after = split(tail ?? '')
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length
  const groups = [...before, ...Array.from({ length: zeros }, () => '0'), ...after]
  return groups.map((group) => Number.parseInt(group, 16).toString(16))
}

const split = (part: string): string[] =>
  part === '' ? [] : part.replace(/\d+\.\d+\.\d+\.\d+$/, '0:0').split(':')
