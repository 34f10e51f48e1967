import type { AuthenticateResult, DMARCResult, DNSResolver } from 'mailauth'

import { SmtpReply } from '#platform/smtp-server/smtp-reply.ts'

/** Each takes questions to DNS; a message has one author as good as always. */
const MAX_DOMAINS = 8
/** What DMARC says of a domain, and what the domain asks for then. A policy that cannot be found out asks for nothing. */
const STRICTNESS = [
  'none',
  'pass',
  'temperror none',
  'fail none',
  'temperror quarantine',
  'fail quarantine',
  'temperror reject',
  'fail reject',
]

/**
 * DMARC of a message. RFC 9989 §5.3.1 has no result for authors of several domains: there it is that of the domain which asks
 * for most, as RFC 7489 §6.6.1 advises, so that no forged author hides behind one who is genuine. False where there is no
 * author. Rejects with an `SmtpReply` where there are too many.
 */
export async function dmarcOf(
  { dmarc: ofOne, spf, dkim }: Pick<AuthenticateResult, 'dmarc' | 'spf' | 'dkim'>,
  resolver: DNSResolver,
): Promise<DMARCResult | false> {
  if (ofOne !== false) return ofOne
  const domains = [...new Set(dkim.headerFrom.flatMap(domainsOf))]
  if (domains.length > MAX_DOMAINS) {
    throw new SmtpReply(550, '5.7.1', `From names authors of more than ${MAX_DOMAINS} domains`)
  }
  const passed = dkim.results.filter(({ status }) => status.result === 'pass')
  const dkimDomains = passed.map(({ signingDomain }) => ({ domain: signingDomain ?? '' }))
  const spfDomains = spf !== false && spf.status.result === 'pass' ? [spf.domain] : []
  const { dmarc } = await import('mailauth')
  const results = await Promise.all(
    domains.map((domain) =>
      dmarc({ headerFrom: `author@${domain}`, spfDomains, dkimDomains, resolver }),
    ),
  )
  const [strictest = false] = results
    .filter((result) => result !== false)
    .toSorted((one, other) => strictness(other) - strictness(one))
  return strictest
}

/** Whatever a reader of the address may take for its domain. */
const domainsOf = (address: string): string[] =>
  address
    .toLowerCase()
    .split('@')
    .slice(1)
    .flatMap((domain) => (domain === '' ? [] : [domain]))

function strictness({ status: { result }, policy }: DMARCResult): number {
  const isRefused = result !== 'none' && result !== 'pass'
  return STRICTNESS.indexOf(isRefused ? `${result} ${policy}` : result)
}
