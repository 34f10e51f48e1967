/** The header that keeps the windows that opened a page, or that it opens, from reaching it. */
export const OPENER_POLICY = 'cross-origin-opener-policy'

/** Chromium's release of September 2025; the value itself is older. */
const FIRST_OF_CHROMIUM = 140

/**
 * The value for a page at that address; browsers honour it over HTTPS and on this machine, and complain of it elsewhere. A page of
 * the same origin that says `same-origin` itself would still reach one that says so: where the browser is known to have it, the
 * page says `noopener-allow-popups`, which lets no opener in. Others would take that word for none.
 */
export function openerPolicyAt(pageUrl: string, { headers }: Request): string | undefined {
  const { protocol, hostname } = new URL(pageUrl)
  const isHonoured =
    protocol === 'https:' || hostname === 'localhost' || hostname.endsWith('.localhost')
  if (!isHonoured) return undefined
  const [, release = '0'] = /"Chromium";v="(\d{1,4})"/.exec(headers.get('sec-ch-ua') ?? '') ?? []
  return Number(release) >= FIRST_OF_CHROMIUM ? 'noopener-allow-popups' : 'same-origin'
}
