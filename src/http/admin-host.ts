import { AppError } from '#base/app-error.ts'
import type { PoolKind } from '#identity/pool-kind.ts'
import { adminBaseUrl, siteBaseUrl } from '#sites/base-url.ts'
import type { SiteEntry } from '#sites/site-directory.ts'

/** On which of a site's two names something is answered, where its administration has one of its own. */
type Place = 'site' | 'admin' | 'both'

/** What admins enter passwords on is on the name of the administration; what strangers read, or post to, is on both. */
const PLACES: readonly (readonly [path: RegExp, place: Place])[] = [
  [/^\/admin\/public\/onboarding(?:\/|$)/, 'admin'],
  [/^\/admin\/public\//, 'both'],
  [/^\/admin(?:\/|$)/, 'admin'],
  // Each pool has a place of its own.
  [/^\/oidc\//, 'both'],
]

/** Where a path is answered. */
export const placeOfPath = (path: string): Place =>
  PLACES.find(([is]) => is.test(path))?.[1] ?? 'site'

/** 421 `MisdirectedRequest` for a path that is not answered under the name that it was asked for. */
export function requirePlace(site: SiteEntry, path: string, baseUrl: string): void {
  if (!isAnswered(site, placeOfPath(path))) throw misdirected(site, baseUrl)
}

/** The same for the pages and tokens of a pool. */
export function requirePoolPlace(site: SiteEntry, kind: PoolKind, baseUrl: string): void {
  if (!isAnswered(site, kind === 'admin' ? 'admin' : 'site')) throw misdirected(site, baseUrl)
}

export function isAnswered({ adminDomain, isAdminHost }: SiteEntry, place: Place): boolean {
  if (adminDomain === null || place === 'both') return true
  return (place === 'admin') === isAdminHost
}

function misdirected(site: SiteEntry, baseUrl: string): AppError {
  const { isAdminHost, domain } = site
  const base = isAdminHost ? siteBaseUrl(baseUrl, domain) : adminBaseUrl(baseUrl, site)
  const what = isAdminHost ? 'This is on the site itself' : `The administration of "${domain}" is`
  return new AppError('MisdirectedRequest', `${what} at ${base}`, { fields: { baseUrl: base } })
}

/** Where a page is that people asked for under the other name; undefined for every other failure. */
export function rightPlace({ code, fields }: AppError, request: Request): string | undefined {
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  if (code !== 'MisdirectedRequest' || !isRead) return undefined
  const { pathname, search } = new URL(request.url)
  return `${String(fields?.['baseUrl'])}${pathname}${search}`
}
