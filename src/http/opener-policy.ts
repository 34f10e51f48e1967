/** The header that keeps the windows that opened a page, or that it opens, from reaching it. */
export const OPENER_POLICY = 'cross-origin-opener-policy'

/** The value for a page at that address; browsers honour it over HTTPS and on this machine, and complain of it elsewhere. */
export function openerPolicyAt(pageUrl: string): string | undefined {
  const { protocol, hostname } = new URL(pageUrl)
  const isHonoured =
    protocol === 'https:' || hostname === 'localhost' || hostname.endsWith('.localhost')
  return isHonoured ? 'same-origin' : undefined
}
