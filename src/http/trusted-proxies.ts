import { BlockList, isIPv6 } from 'node:net'

import { addressIn } from './forwarded.ts'

/** Whose `X-Forwarded-*` and `Forwarded` headers are believed: addresses and CIDR blocks from the configuration. */
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

  /**
   * The nearest address that is not one of ours, walking from the peer to the first hop. When one of ours names no address, it
   * counts as the client itself: arbitrary words would each be another client.
   */
  clientOf(peer: string, hops: readonly string[]): string {
    let client = peer
    for (const hop of hops.toReversed()) {
      if (!this.trusts(client)) return client
      const address = addressIn(hop)
      if (address === undefined) return client
      client = address
    }
    return client
  }
}
