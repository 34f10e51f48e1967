import { BlockList, isIPv6 } from 'node:net'

/** Whose `X-Forwarded-*` headers are believed: addresses and CIDR blocks from the configuration. */
export class TrustedProxies {
  readonly #blocks = new BlockList()
  readonly #empty: boolean

  constructor(entries: readonly string[]) {
    this.#empty = entries.length === 0
    for (const entry of entries) {
      const [address = '', prefix] = entry.split('/')
      const family = isIPv6(address) ? 'ipv6' : 'ipv4'
      if (prefix === undefined) this.#blocks.addAddress(address, family)
      else this.#blocks.addSubnet(address, Number(prefix), family)
    }
  }

  get none(): boolean {
    return this.#empty
  }

  trusts(address: string): boolean {
    const plain = address.startsWith('::ffff:') ? address.slice(7) : address
    return this.#blocks.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4')
  }

  /** The nearest address that is not one of ours, walking `X-Forwarded-For` from the right. */
  clientOf(peer: string, forwardedFor: string | null): string {
    const hops = [...(forwardedFor ?? '').split(',').map((hop) => hop.trim()), peer].filter(Boolean)
    return hops.findLast((hop) => !this.trusts(hop)) ?? hops[0] ?? peer
  }
}
