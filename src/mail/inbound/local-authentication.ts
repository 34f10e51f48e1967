import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import type { AuthenticationOutcome } from './authentication.ts'
import type { MessageAuthentication } from './model.ts'

const NOT_KNOWN = 'none'
const TextOrNull = Type.Union([Type.String(), Type.Null()])
const Stored = Type.Object({
  spf: Type.String(),
  dkim: Type.String(),
  dmarc: Type.String(),
  arc: Type.String(),
  spfDomain: TextOrNull,
  dkimDomains: Type.Array(Type.String()),
  fromDomain: TextOrNull,
  dmarcPolicy: TextOrNull,
})

/** Of a message that a site here wrote and signed: its domain is in the envelope, in From and in the signature. */
export const siteAuthentication = (domain: string, hostname: string): AuthenticationOutcome => ({
  authentication: {
    spf: 'pass',
    dkim: 'pass',
    dmarc: 'pass',
    arc: NOT_KNOWN,
    spfDomain: domain,
    dkimDomains: [domain],
    fromDomain: domain,
    dmarcPolicy: null,
  },
  header: `Authentication-Results: ${hostname};\r\n spf=pass (sent by a site of this server) smtp.mailfrom=${domain};\r\n dkim=pass (signed by this server) header.d=${domain};\r\n dmarc=pass header.from=${domain}\r\n`,
})

/** What was found out when the message came here first. Its header is in the message that goes on. */
export function keptAuthentication(stored: unknown): AuthenticationOutcome {
  const authentication: MessageAuthentication = Value.Check(Stored, stored)
    ? stored
    : {
        spf: NOT_KNOWN,
        dkim: NOT_KNOWN,
        dmarc: NOT_KNOWN,
        arc: NOT_KNOWN,
        spfDomain: null,
        dkimDomains: [],
        fromDomain: null,
        dmarcPolicy: null,
      }
  return { authentication, header: '' }
}
