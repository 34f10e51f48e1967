import { host } from './host.ts'
import { split, startsWith, testPattern, toLowerCase } from './primordials.ts'

/** What no domain may have, and would end the domain or be skipped where it is read as a part of a URL. */
const REFUSED = /[\0-\x20#%/:?@[\\\]^|\x7f]/
const ASCII = /^[\0-\x7f]*$/
/** Has what the URL parser refuses. */
const INVALID = ' '

/**
 * "Domain to ASCII" of the URL standard, in place of the little that core-js has. Its tables are large, and the host's
 * Node has them.
 */
export function domainToAscii(domain: string): string {
  if (testPattern(REFUSED, domain)) return INVALID
  const text = toLowerCase(domain)
  if (testPattern(ASCII, text) && !hasPunycode(text)) return text
  const ascii = host.domainToAscii(domain)
  return ascii === '' ? INVALID : ascii
}

function hasPunycode(domain: string): boolean {
  const labels = split(domain, '.')
  for (let at = 0; at < labels.length; at += 1)
    if (startsWith(labels[at] as string, 'xn--')) return true
  return false
}
