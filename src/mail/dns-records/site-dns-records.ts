import type { DkimKeys } from '#mail/dkim/keys.ts'
import type { DkimKey } from '#mail/dkim/model.ts'
import type { DnsResolver } from '#platform/dns/dns-resolver.ts'
import type { Site, SiteNames } from '#sites/site.ts'

import { lookUp } from './lookup.ts'
import type { NeededRecord, SiteDns, SiteDnsRecord } from './model.ts'
import { dkimRecord, dmarcRecord, mxRecord, spfRecord } from './needed-records.ts'

const MAX_FOUND = 10
const MAX_CHARACTERS = 500

const ADDRESSES = ['A', 'AAAA'] as const
const TTL_SECONDS = 3600

/** RFC 1035 §3.3: of one string of a TXT record. */
const MAX_STRING = 255

interface Named extends Pick<NeededRecord, 'purpose'> {
  readonly name: string
  readonly note: string
}

/** The records that a site needs in DNS for its mail and its other names, compared with those that are there. */
export class SiteDnsRecords {
  readonly #deps

  constructor(deps: {
    readonly dns: DnsResolver
    readonly dkimKeys: Pick<DkimKeys, 'list'>
    readonly smtpHostname: string
    readonly spfMechanisms: readonly string[]
  }) {
    this.#deps = deps
  }

  /** Asks DNS for all of them at once, for 16 s at most. A key that is retired needs no record. */
  async check(site: Site): Promise<SiteDns> {
    const { dns, dkimKeys, smtpHostname, spfMechanisms } = this.#deps
    const { siteId, domain } = site
    const keys = (await dkimKeys.list(site)).filter(({ state }) => state !== 'retired')
    const needed = [
      mxRecord(domain, smtpHostname),
      spfRecord(domain, spfMechanisms),
      ...keys.map(dkimRecord),
      dmarcRecord(domain),
      ...(await nameRecords(dns, site)),
    ]
    const records = await Promise.all(needed.map((record) => compared(dns, record)))
    return { siteId, domain, records }
  }
}

/** Whether DNS has the record of that key now. */
export const isDkimPublished = async (dns: DnsResolver, key: DkimKey): Promise<boolean> =>
  (await compared(dns, dkimRecord(key))).state === 'present'

async function compared(dns: DnsResolver, needed: NeededRecord): Promise<SiteDnsRecord> {
  const { purpose, type, name, value, note, asked = [type] } = needed
  const answers = await Promise.all(asked.map((each) => lookUp(dns, name, each)))
  const found = answers.flatMap((answer) => answer ?? []).filter(needed.isOfKind)
  return {
    purpose,
    type,
    name,
    value,
    zone: zoneLine(needed),
    state: stateOf(needed, found, answers.includes(undefined)),
    found: found.slice(0, MAX_FOUND).map((text) => text.slice(0, MAX_CHARACTERS)),
    note,
  }
}

function stateOf(
  needed: NeededRecord,
  found: readonly string[],
  isPartial: boolean,
): SiteDnsRecord['state'] {
  const does = found.length > 0 && needed.satisfies(found)
  if (does === true) return 'present'
  if (isPartial || does === undefined) return 'unknown'
  return found.length === 0 ? 'missing' : 'different'
}

/** What leads people to the names that a site has beside its domain: each has to lead where the domain does. */
async function nameRecords(
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

/** A record as a zone file has it (RFC 1035 §5.1); a long text in strings of at most 255 bytes. */
export function zoneLine({
  name,
  type,
  value,
}: {
  readonly name: string
  readonly type: 'MX' | 'TXT' | 'CNAME'
  readonly value: string
}): string {
  const data = type === 'TXT' ? quotedStrings(value) : `${value}.`
  return `${name}. ${TTL_SECONDS} IN ${type} ${data}`
}

const quotedStrings = (text: string): string =>
  (text.match(new RegExp(`.{1,${MAX_STRING}}`, 'g')) ?? [''])
    .map((part) => `"${part.replaceAll(/["\\]/g, '\\$&')}"`)
    .join(' ')
