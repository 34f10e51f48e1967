import { domainToASCII, domainToUnicode } from 'node:url'

const DNS_NAME = /^(?=.{1,253}$)[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})*$/i
const UNICODE_NAME = /^[a-z0-9.\-\u{a1}-\u{10ffff}]{1,253}$/iu

/** A domain as DNS has it, in ASCII and lower case; undefined for what is none. */
export function asciiDomain(domain: string): string | undefined {
  // A name in ASCII stays as it is: what a URL parser would make of it is another name.
  const ascii = UNICODE_NAME.test(domain) && !DNS_NAME.test(domain) ? domainToASCII(domain) : domain
  return DNS_NAME.test(ascii) ? ascii.toLowerCase() : undefined
}

/** Whether a domain in lower case is written as it is shown, so that its ASCII form stands for nothing else. */
export const isShownDomain = (domain: string): boolean => {
  const ascii = asciiDomain(domain)
  return ascii === domain || (ascii !== undefined && domainToUnicode(ascii) === domain)
}
