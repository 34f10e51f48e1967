import type { DkimKeys } from '#mail/dkim/keys.ts'
import type { DkimKey } from '#mail/dkim/model.ts'
import type { DnsResolver } from '#platform/dns/dns-resolver.ts'
import type { Site } from '#sites/site.ts'

import { lookUp } from './lookup.ts'
import type { NeededRecord, SiteDns, SiteDnsRecord } from './model.ts'
import { nameRecords } from './name-records.ts'
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

/** The records that a site needs in DNS for its mail and its other names, compared with those that are there. */
export class SiteDnsRecords {
  readonly #deps: SiteDnsRecordsDeps

  constructor(deps: SiteDnsRecordsDeps) {
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
