import type { DkimKeys } from '#mail/dkim/keys.ts'
import type { DkimKey } from '#mail/dkim/model.ts'
import type { DnsResolver } from '#platform/dns/dns-resolver.ts'
import type { Site } from '#sites/site.ts'

import { lookUp } from './lookup.ts'
import type { NeededRecord, SiteDns, SiteDnsRecord } from './model.ts'
import { dkimRecord, dmarcRecord, mxRecord, spfRecord } from './needed-records.ts'
import { zoneLine } from './zone-line.ts'

const MAX_FOUND = 10
const MAX_CHARACTERS = 500

export interface SiteDnsRecordsDeps {
  readonly dns: DnsResolver
  readonly dkimKeys: Pick<DkimKeys, 'list'>
  readonly smtpHostname: string
  readonly spfMechanisms: readonly string[]
}

/** The records that the mail of a site needs in DNS, compared with those that are there. */
export class SiteDnsRecords {
  readonly #deps: SiteDnsRecordsDeps

  constructor(deps: SiteDnsRecordsDeps) {
    this.#deps = deps
  }

  /** Asks DNS for all of them at once, for 8 s at most. A key that is retired needs no record. */
  async check(site: Site): Promise<SiteDns> {
    const { dns, dkimKeys, smtpHostname, spfMechanisms } = this.#deps
    const { siteId, domain } = site
    const keys = (await dkimKeys.list(site)).filter(({ state }) => state !== 'retired')
    const needed = [
      mxRecord(domain, smtpHostname),
      spfRecord(domain, spfMechanisms),
      ...keys.map(dkimRecord),
      dmarcRecord(domain),
    ]
    const records = await Promise.all(needed.map((record) => compared(dns, record)))
    return { siteId, domain, records }
  }
}

/** Whether DNS has the record of that key now. */
export const isDkimPublished = async (dns: DnsResolver, key: DkimKey): Promise<boolean> =>
  (await compared(dns, dkimRecord(key))).state === 'present'

async function compared(dns: DnsResolver, needed: NeededRecord): Promise<SiteDnsRecord> {
  const { purpose, type, name, value, note } = needed
  const answer = await lookUp(dns, name, type)
  const found = answer?.filter(needed.isOfKind)
  return {
    purpose,
    type,
    name,
    value,
    zone: zoneLine(needed),
    state: stateOf(needed, found),
    found: (found ?? []).slice(0, MAX_FOUND).map((text) => text.slice(0, MAX_CHARACTERS)),
    note,
  }
}

function stateOf(
  needed: NeededRecord,
  found: readonly string[] | undefined,
): SiteDnsRecord['state'] {
  if (found === undefined) return 'unknown'
  if (found.length === 0) return 'missing'
  return needed.satisfies(found) ? 'present' : 'different'
}
