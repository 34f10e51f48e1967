import { invalid } from '#base/app-error.ts'

import { parseDomain } from './domain.ts'
import type { SiteNames } from './site.ts'

/** Each is a host that is looked up, and a certificate. */
const MAX_FORMER = 8

/** As the operator gives them: what is left out stays. */
interface NamesInput {
  readonly domain?: string
  readonly adminDomain?: string | null
  readonly authDomain?: string | null
  readonly formerAuthDomains?: readonly string[]
}

/** Every name under which something of the site is reached, each once. */
export const hostsOf = (site: SiteNames): readonly string[] => {
  const { domain, adminDomain, authDomain, formerAuthDomains } = site
  const hosts = [domain, adminDomain, authDomain, ...formerAuthDomains]
  return [...new Set(hosts.filter((host) => host !== null))]
}

/**
 * The names of a site after a change of `current`. The name that visitors leave joins `formerAuthDomains`, unless the input
 * says which those are; with another domain, the issuer moves at once. Throws a `ValidationError` that names the field.
 */
export function parseSiteNames(input: NamesInput, current: SiteNames | undefined): SiteNames {
  const domain = parseDomain(input.domain ?? current?.domain ?? '')
  const adminDomain = parseAdminDomain(valueOf(input.adminDomain, current?.adminDomain), domain)
  const authDomain = parseAuthDomain(valueOf(input.authDomain, current?.authDomain), domain)
  if (authDomain !== null && authDomain === adminDomain) {
    throw invalid('authDomain', 'is the name of the administration: take another one')
  }
  const names = { domain, adminDomain, authDomain }
  const formerAuthDomains =
    input.formerAuthDomains === undefined
      ? keptNames(names, current)
      : parseFormer(input.formerAuthDomains, names)
  if (formerAuthDomains.length > MAX_FORMER) {
    throw invalid('formerAuthDomains', `more than ${MAX_FORMER}: end some of them first`)
  }
  return { ...names, formerAuthDomains }
}

const valueOf = <Value>(given: Value | undefined, current: Value | undefined): Value | null =>
  given === undefined ? (current ?? null) : given

function parseAdminDomain(name: string | null, domain: string): string | null {
  if (name === null) return null
  if (name === domain) throw invalid('adminDomain', 'is the domain itself: leave it out for that')
  return parseDomain(name, 'adminDomain')
}

/** Below the domain: there, browsers let the sign-in use the passkeys of the domain, and send its cookies to frames of the site. */
function parseAuthDomain(name: string | null, domain: string): string | null {
  if (name === null) return null
  if (name === domain) throw invalid('authDomain', 'is the domain itself: leave it out for that')
  parseDomain(name, 'authDomain')
  if (!domain.includes('.')) {
    throw invalid('authDomain', `no passkey of "${domain}" works below a name without a dot`)
  }
  if (name.endsWith(`.${domain}`)) return name
  throw invalid('authDomain', `has to be below the domain, like "auth.${domain}"`)
}

type IssuerNames = Omit<SiteNames, 'formerAuthDomains'>

function parseFormer(names: readonly string[], site: IssuerNames): readonly string[] {
  for (const name of names) {
    parseDomain(name, 'formerAuthDomains')
    if (isFormerOf(site, name)) continue
    throw invalid('formerAuthDomains', `"${name}" is not another name at or below the domain`)
  }
  return [...new Set(names)]
}

function keptNames(site: IssuerNames, current: SiteNames | undefined): readonly string[] {
  if (!current) return []
  const left = current.domain === site.domain ? [current.authDomain ?? current.domain] : []
  return [...new Set([...current.formerAuthDomains, ...left])].filter((name) =>
    isFormerOf(site, name),
  )
}

const isFormerOf = ({ domain, adminDomain, authDomain }: IssuerNames, name: string): boolean =>
  (name === domain || name.endsWith(`.${domain}`)) &&
  name !== adminDomain &&
  name !== (authDomain ?? domain)
