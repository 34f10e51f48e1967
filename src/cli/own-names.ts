import { type AddressLookup, compareAddresses } from '#platform/dns/name-addresses.ts'

import { textOption } from './command.ts'

/** Every name below it leads to this machine (RFC 6761), which says nothing about a site. */
const LOOPBACK = /(?:^|\.)localhost$/

export const ADMIN_DOMAIN_OPTION = textOption(
  '--admin-domain <name>',
  'where its administration is, such as admin.{domain}, or none for the domain itself',
)

export const AUTH_DOMAIN_OPTION = textOption(
  '--auth-domain <name>',
  'where its visitors sign in, such as auth.{domain}, or none for the domain itself',
)

/**
 * `{label}.{domain}` where it resolves to an address of the domain's; null for a name that does not resolve, or resolves
 * elsewhere.
 */
export async function resolvingName(
  label: 'admin' | 'auth',
  domain: string,
  addressesOf?: AddressLookup,
): Promise<string | null> {
  if (LOOPBACK.test(domain)) return null
  const name = `${label}.${domain}`
  return (await compareAddresses(name, domain, addressesOf)) === 'same' ? name : null
}
