import type { SiteNames } from './site.ts'

/**
 * Where a site is reached: scheme and port of the installation's base URL, the site's own domain as host. The site whose domain
 * is the host of the base URL gets it unchanged. Without a trailing slash.
 */
export function siteBaseUrl(baseUrl: string, domain: string): string {
  const url = new URL(baseUrl)
  if (url.hostname === domain) return baseUrl.replace(/\/+$/, '')
  const port = url.port === '' ? '' : `:${url.port}`
  return `${url.protocol}//${domain}${port}`
}

/** The same of the administration, which may have a name of its own. */
export const adminBaseUrl = (
  baseUrl: string,
  { domain, adminDomain }: Pick<SiteNames, 'domain' | 'adminDomain'>,
): string => siteBaseUrl(baseUrl, adminDomain ?? domain)

/** The same of the visitors' sign-in. */
export const authBaseUrl = (
  baseUrl: string,
  { domain, authDomain }: Pick<SiteNames, 'domain' | 'authDomain'>,
): string => siteBaseUrl(baseUrl, authDomain ?? domain)
