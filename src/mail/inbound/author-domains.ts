import { domainToASCII } from 'node:url'

import type { AuthenticateResult, DMARCResult, DNSResolver } from 'mailauth'

import { SmtpReply } from '#platform/smtp-server/smtp-reply.ts'

/** Each takes questions to DNS; a message has one author as good as always. */
const MAX_DOMAINS = 8
/**
 * What DMARC says of a domain, and what the domain asks for then. A policy that cannot be found out asks for nothing. A message
 * passes where all of its authors do.
 */
const STRICTNESS = [
  'pass',
  'none',
  'temperror none',
  'fail none',
  'temperror quarantine',
  'fail quarantine',
  'temperror reject',
  'fail reject',
]

/**
 * DMARC of a message. RFC 9989 §5.3.1 has no result for authors of several domains: there it is that of the domain which asks
 * for most, as RFC 7489 §6.6.1 advises, so that no forged author hides behind one who is genuine. Among them are the authors
 * that a reader is shown, whatever the library reads in the same field. False where there is no author, or one whose domain is
 * none. Rejects with an `SmtpReply` where there are too many.
 */
export async function dmarcOf(
  { dmarc: ofOne, spf, dkim }: Pick<AuthenticateResult, 'dmarc' | 'spf' | 'dkim'>,
  shownAuthors: readonly string[],
  resolver: DNSResolver,
): Promise<DMARCResult | false> {
  const judged =
    ofOne === false ? dkim.headerFrom.flatMap(domainsOf) : [ofOne.status.header?.from ?? '']
  const shown = shownAuthors.flatMap((address) => domainsOf(address).slice(-1))
  const domains = [...new Set([...judged, ...shown].map(asInDns))]
  if (ofOne !== false && domains.length === 1) return ofOne
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
  const [strictest = false] = results.toSorted((one, other) => strictness(other) - strictness(one))
  return strictest
}

/** Names of one domain are the same here. What is no name stays as it is: no policy is found for it. */
function asInDns(domain: string): string {
  const name = domain.trim().toLowerCase().replace(/\.$/, '')
  return domainToASCII(name) || name
}

/** Whatever a reader of the address may take for its domain. */
const domainsOf = (address: string): string[] =>
  address
    .toLowerCase()
    .split('@')
    .slice(1)
    .flatMap((domain) => (domain === '' ? [] : [domain]))

function strictness(found: DMARCResult | false): number {
  if (found === false) return STRICTNESS.indexOf('none')
  const {
    status: { result },
    policy,
  } = found
  const isRefused = result !== 'none' && result !== 'pass'
  return STRICTNESS.indexOf(isRefused ? `${result} ${policy}` : result)
}
