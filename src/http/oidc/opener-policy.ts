import type { Pool } from '#identity/pools/model.ts'

/** Keeps windows that opened a page, or that it opens, from reaching it. Browsers honour it over HTTPS, and on this machine. */
export const opensAlone = (pageUrl: string): Readonly<Record<string, string>> => {
  const { protocol, hostname } = new URL(pageUrl)
  return protocol === 'https:' || hostname === 'localhost' || hostname.endsWith('.localhost')
    ? { 'cross-origin-opener-policy': 'same-origin' }
    : {}
}

/**
 * Of the pages of an admin's sign-in and the redirects on the way: a script of the site that opened one could read the
 * password as it is typed, and the code in the address that the window ends at. Visitors sign in in popups, too.
 */
export const openerPolicyOf = ({
  kind,
  issuer,
}: Pick<Pool, 'kind' | 'issuer'>): Readonly<Record<string, string>> =>
  kind === 'admin' ? opensAlone(issuer) : {}
