import { domainToASCII } from 'node:url'

import type { AuthenticateResult, DMARCResult, DNSResolver } from 'mailauth'

import { SmtpReply } from '#platform/smtp-server/smtp-reply.ts'

import { mailauth } from './mailauth.ts'

/** Each takes questions to DNS; a message has one author as good as always. */
const MAX_DOMAINS = 8
/** DNS has names of 253. */
const MAX_DOMAIN_LENGTH = 500
/** What a host name has none of: with it, a reader still takes the rest for one. */
const NO_HOST = /[\s!-,/:-@[-^`{-~]+/u
const DOMAIN_LITERAL = /^\[[^\]\s]*\]$/
const QUOTED_LOCAL_PART = /^"(?:[^"\\]|\\.)*"(?=@)/s
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

/** What was found out of a message before. */
interface FoundSenders extends Pick<AuthenticateResult, 'spf' | 'arc'> {
  readonly dkim: {
    readonly headerFrom: readonly string[]
    readonly results: AuthenticateResult['dkim']['results']
  }
}

/**
 * DMARC of a message. RFC 9989 §5.3.1 has no result for authors of several domains: there it is that of the domain which asks
 * for most, as RFC 7489 §6.6.1 advises, so that no forged author hides behind one who is genuine. Among them are the addresses
 * that a reader is shown, or may read in a name without one, whatever the library reads in the same field. False where there is
 * no author, or one whose domain is none. Rejects with an `SmtpReply` where there are too many.
 */
export async function dmarcOf(
  { spf, dkim, arc }: FoundSenders,
  shown: readonly string[],
  resolver: DNSResolver,
): Promise<DMARCResult | false> {
  const named = [...dkim.headerFrom, ...shown].flatMap(hostsOf)
  const domains = [...new Set(named)].filter((host) => host !== '')
  if (domains.length > MAX_DOMAINS) {
    throw new SmtpReply(550, '5.7.1', `From names authors of more than ${MAX_DOMAINS} domains`)
  }
  const passed = dkim.results.filter(({ status }) => status.result === 'pass')
  const dkimDomains = passed.map(({ signingDomain }) => ({ domain: signingDomain ?? '' }))
  const spfDomains = spf !== false && spf.status.result === 'pass' ? [spf.domain] : []
  const arcResult = arc === false ? {} : { arcResult: arc }
  const { dmarc } = await mailauth()
  const results = await Promise.all(
    domains.map((domain) =>
      dmarc({ headerFrom: `author@${domain}`, spfDomains, dkimDomains, resolver, ...arcResult }),
    ),
  )
  const [strictest = false] = results.toSorted((one, other) => strictness(other) - strictness(one))
  return strictest
}

/** Whatever a reader may take for the domain of an address. */
const hostsOf = (text: string): string[] =>
  text.replace(QUOTED_LOCAL_PART, '').normalize('NFKC').split('@').slice(1).map(hostOf)

/** As it is in DNS: names of one domain are the same here. What is no name stays as it is: no policy is found for it. */
function hostOf(domain: string): string {
  if (DOMAIN_LITERAL.test(domain)) return domain.toLowerCase()
  const pieces = domain.slice(0, MAX_DOMAIN_LENGTH).normalize('NFKC').toLowerCase().split(NO_HOST)
  const name = pieces.map((piece) => piece.replaceAll(/^\.+|\.+$/g, '')).find(Boolean) ?? ''
  return domainToASCII(name) || name
}

function strictness(found: DMARCResult | false): number {
  if (found === false) return STRICTNESS.indexOf('none')
  const {
    status: { result },
    policy,
  } = found
  const isRefused = result !== 'none' && result !== 'pass'
  return STRICTNESS.indexOf(isRefused ? `${result} ${policy ?? 'none'}` : result)
}
