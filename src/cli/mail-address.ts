import { domainToASCII } from 'node:url'

import type { Arguments } from './command.ts'
import { UsageError } from './errors.ts'
import { sitePath } from './service-client.ts'

/** The word of a command that names an address of a site. */
interface SiteAddress {
  readonly address: string
  /** Of the site whose domain the address has, below `/portal/api`. */
  readonly sitePath: (rest: string) => string
  /** Of the address itself, in that collection. */
  readonly path: (collection: 'mailboxes' | 'mailbox-reports' | 'aliases', rest?: string) => string
}

export function namedAddress({ word }: Arguments): SiteAddress {
  const at = word.lastIndexOf('@')
  const domain = at < 1 ? '' : domainToASCII(word.slice(at + 1))
  if (domain === '') throw new UsageError(`"${word}" is no address, like info@shop.test`)
  const ofSite = (rest: string): string => sitePath(domain, rest)
  return {
    address: word,
    sitePath: ofSite,
    path: (collection, rest = '') => ofSite(`/${collection}/${encodeURIComponent(word)}${rest}`),
  }
}
