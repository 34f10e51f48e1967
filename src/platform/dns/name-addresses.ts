import { lookup } from 'node:dns/promises'

import { withFallback } from '#base/with-timeout.ts'

/** A resolver without a response takes longer than a person waits. */
const LOOKUP_MS = 3000

export type AddressLookup = (name: string) => Promise<readonly string[]>

/** How the addresses of a name compare with those of a domain. */
export type NamePlace = 'same' | 'elsewhere' | 'nowhere' | 'unknown'

/** `unknown` where the domain itself does not resolve: the names may be in a table of another machine. */
export async function compareAddresses(
  name: string,
  domain: string,
  addressesOf: AddressLookup = lookedUp,
): Promise<NamePlace> {
  const [found, own] = await Promise.all([name, domain].map((host) => addressesIn(host)))
  if (own === undefined || own.length === 0) return 'unknown'
  if (found === undefined || found.length === 0) return 'nowhere'
  return found.some((address) => own.includes(address)) ? 'same' : 'elsewhere'

  function addressesIn(host: string): Promise<readonly string[]> {
    return withFallback(addressesOf(host), LOOKUP_MS, [])
  }
}

const lookedUp: AddressLookup = async (name) =>
  (await lookup(name, { all: true })).map(({ address }) => address)
