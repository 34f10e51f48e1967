import { isIPv6 } from 'node:net'

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i
/** Of an IPv6 address: the link of one customer, what a household gets, and what a business or a server farm gets (RFC 6177). */
type PrefixBits = 64 | 56 | 48

/**
 * What counts as one source of tries: an IPv4 address, or the first bits of an IPv6 address. Anything else is taken as it is.
 */
export function ipPrefix(address: string, prefixBits: PrefixBits = 64): string {
  const mapped = MAPPED.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  const [bare = ''] = address.split('%')
  if (!isIPv6(bare)) return address
  const groups = groupsOf(bare).slice(0, Math.ceil(prefixBits / 16))
  if (prefixBits === 56) groups[3] = (Number.parseInt(groups[3] ?? '0', 16) & 0xff00).toString(16)
  return `${groups.join(':')}::/${prefixBits}`
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
