import type { DnsResolver } from '#platform/dns/dns-resolver.ts'
import type { SiteNames } from '#sites/site.ts'

import { lookUp } from './lookup.ts'
import type { NeededRecord } from './model.ts'

const ADDRESSES = ['A', 'AAAA'] as const

/** What leads people to the names that a site has beside its domain: each has to lead where the domain does. */
export async function nameRecords(
  dns: DnsResolver,
  { domain, adminDomain, authDomain, formerAuthDomains }: SiteNames,
): Promise<readonly NeededRecord[]> {
  const names = [
    { purpose: 'administration' as const, name: adminDomain, note: 'its administration is there' },
    { purpose: 'sign-in' as const, name: authDomain, note: 'its visitors sign in there' },
    ...formerAuthDomains.map((name) => ({
      purpose: 'former sign-in' as const,
      name,
      note: 'programs still use it, until croft site update --end-former-auth',
    })),
  ]
  const others = names.flatMap(({ name, ...rest }): readonly Named[] =>
    name === null || name === domain ? [] : [{ ...rest, name }],
  )
  if (others.length === 0) return []
  const answers = await Promise.all(ADDRESSES.map((type) => lookUp(dns, domain, type)))
  const own = answers.flatMap((answer) => answer ?? [])
  return others.map((named) => nameRecord(domain, named, own))
}

interface Named extends Pick<NeededRecord, 'purpose'> {
  readonly name: string
  readonly note: string
}

/** An alias of the domain is suggested; an address of the domain's does as well. */
const nameRecord = (
  domain: string,
  { purpose, name, note }: Named,
  own: readonly string[],
): NeededRecord => ({
  purpose,
  type: 'CNAME',
  name,
  value: domain,
  note: `${note}; an address of ${domain} does as well`,
  asked: ['CNAME', ...ADDRESSES],
  isOfKind: () => true,
  satisfies(found) {
    if (found.includes(domain) || found.some((text) => own.includes(text))) return true
    return own.length === 0 ? undefined : false
  },
})
