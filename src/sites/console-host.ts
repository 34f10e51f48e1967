import { createHash } from 'node:crypto'

import type { SiteNames } from './site.ts'

/** RFC 1035 section 2.3.4. */
const MAX_LABEL = 63
const DIGEST_DIGITS = 32
/** Hyphens as third and fourth character are reserved (RFC 5890 section 2.3.1). */
const RESERVED = /^..--/
const WRAPPED = /^0-(.+)-0$/
const DIGEST = new RegExp(`^([0-9a-f]{${DIGEST_DIGITS}})-0$`)

/** By what the site of a label is found. */
export type LabelledSite = { readonly domain: string } | { readonly digest: string }

/**
 * The label below the console domain that stands for a site's domain: a dot becomes one hyphen, a hyphen two. No part of a
 * domain begins or ends with a hyphen, so no two domains have the same label. What would be a reserved label is put between
 * `0-` and `-0`, and what would be too long is a digest with `-0`: no domain ends with a number.
 */
export function consoleLabel(domain: string): string {
  const plain = domain.replaceAll('-', '--').replaceAll('.', '-')
  const label = RESERVED.test(plain) ? `0-${plain}-0` : plain
  return label.length > MAX_LABEL ? `${digestOf(domain)}-0` : label
}

/** What `consoleLabel` made a label of; undefined for what it makes of no domain. */
export function labelledSite(label: string): LabelledSite | undefined {
  const digest = DIGEST.exec(label)?.[1]
  if (digest !== undefined) return { digest }
  const plain = WRAPPED.exec(label)?.[1] ?? label
  const domain = plain.replaceAll(/-+/g, (run) =>
    run.length === 1 ? '.' : '-'.repeat(run.length / 2),
  )
  return consoleLabel(domain) === label ? { domain } : undefined
}

/** The label of a host directly below the console domain. */
export function labelBelow(consoleDomain: string | undefined, host: string): string | undefined {
  if (consoleDomain === undefined || !host.endsWith(`.${consoleDomain}`)) return undefined
  return host.slice(0, -consoleDomain.length - 1)
}

/** Whether a name is that of the consoles, or below it: no site may have one. */
export const isOfConsoles = (consoleDomain: string | undefined, name: string): boolean =>
  name === consoleDomain || labelBelow(consoleDomain, name) !== undefined

/**
 * Where the console of a site is: on the name of its administration, or else on one below the installation's console domain.
 * Undefined where there is neither.
 */
export function consoleHost(
  consoleDomain: string | undefined,
  { domain, adminDomain }: Pick<SiteNames, 'domain' | 'adminDomain'>,
): string | undefined {
  if (adminDomain !== null) return adminDomain
  return consoleDomain === undefined ? undefined : `${consoleLabel(domain)}.${consoleDomain}`
}

/** The first half of the SHA-256, as the index of the table `site` has it. */
const digestOf = (domain: string): string =>
  createHash('sha256').update(domain).digest('hex').slice(0, DIGEST_DIGITS)
