import { AppError } from '#base/app-error.ts'
import { ISSUER_PARAMETER } from '#identity/authorization/authorization-parameters.ts'
import type { PoolKind } from '#identity/pool-kind.ts'
import { adminBaseUrl, authBaseUrl, siteBaseUrl } from '#sites/base-url.ts'
import type { SiteEntry } from '#sites/site-directory.ts'

/** What the names of a site are for: one name may have several uses, where the site has fewer names. */
type HostKind = 'site' | 'admin' | 'auth' | 'former'

/** On the names of which uses a path is answered. */
type HostKinds = readonly HostKind[]

/** What admins enter passwords on is on the name of the administration; what strangers read, or post to, is on that and the domain. */
const HOST_KINDS: readonly (readonly [path: RegExp, place: HostKinds])[] = [
  [/^\/admin\/public\/onboarding(?:\/|$)/, ['admin']],
  // What the pages of either sign-in show, and the mailed links of both pools.
  [/^\/admin\/public\/(?:logo|address)\//, ['site', 'admin', 'auth']],
  [/^\/admin\/public\//, ['site', 'admin']],
  [/^\/admin(?:\/|$)/, ['admin']],
  // For signed URLs: the console loads nothing of other origins.
  [/^\/objects\//, ['site', 'admin']],
  // Each pool has a place of its own.
  [/^\/oidc\//, ['site', 'admin', 'auth', 'former']],
]
const ON_THE_SITE: HostKinds = ['site']

/** Below an issuer: what programs call, whose tokens travel in body and header. No cookie counts there. */
export const COOKIELESS_PATHS =
  /^\/oidc\/[^/]+\/?(?:$|oauth2\/(?:token|revoke|userInfo)\/?$|\.well-known\/)/
/** Ends an earlier sign-in, on its name. */
const FORMER_LOGOUT = /^\/oidc\/[^/]+\/logout\/former\/?$/
const AUTHORIZE = /^\/oidc\/[^/]+\/oauth2\/authorize\/?$/
/** OpenID Connect lets forms of other sites post to these. */
const POSTED_BY_OTHERS = /^\/oidc\/[^/]+\/(?:oauth2\/authorize|logout)\/?$/

/** Where a path is answered. */
export const hostKindOf = (path: string): HostKinds =>
  HOST_KINDS.find(([is]) => is.test(path))?.[1] ?? ON_THE_SITE

/** 421 `MisdirectedRequest` for a path that is not answered under the name that it was asked for. */
export function requireHostKind(site: SiteEntry, path: string, baseUrl: string): void {
  const kinds = hostKindOf(path)
  if (!kinds.some((use) => isUsedFor(site, use))) throw misdirected(site, kinds[0], baseUrl)
}

/**
 * The same for the pages and tokens of a pool. Where visitors signed in before, programs go on; people are led to the pages
 * of now, on no origin that scripts of the site share.
 */
export function requirePoolHost(
  site: SiteEntry,
  { kind, issuer }: { readonly kind: PoolKind; readonly issuer: string },
  path: string,
  baseUrl: string,
): void {
  const use = kind === 'admin' ? 'admin' : 'auth'
  if (isUsedFor(site, use)) return
  const isFormer = use === 'auth' && isUsedFor(site, 'former')
  if (isFormer && (COOKIELESS_PATHS.test(path) || FORMER_LOGOUT.test(path))) return
  throw misdirected(site, use, baseUrl, isFormer && AUTHORIZE.test(path) ? { issuer } : {})
}

/** Whether the name by which the site was requested is the one for that. */
function isUsedFor(site: SiteEntry, use: HostKind): boolean {
  const { host, domain, adminDomain, consoleHost, authDomain, formerAuthDomains } = site
  if (use === 'former') return formerAuthDomains.includes(host)
  if (use === 'admin' && host === consoleHost) return true
  return { site: domain, admin: adminDomain ?? domain, auth: authDomain ?? domain }[use] === host
}

function misdirected(
  site: SiteEntry,
  use: HostKind | undefined,
  baseUrl: string,
  fields: Readonly<Record<string, string>> = {},
): AppError {
  const [base, what] = hostNames(site, use, baseUrl)
  return new AppError('MisdirectedRequest', `${what} at ${base}`, {
    fields: { baseUrl: base, ...fields },
  })
}

function hostNames(
  site: SiteEntry,
  use: HostKind | undefined,
  baseUrl: string,
): readonly [base: string, what: string] {
  const { domain } = site
  if (use === 'admin') {
    return [adminBaseUrl(baseUrl, site), `The administration of "${domain}" is`]
  }
  return use === 'auth'
    ? [authBaseUrl(baseUrl, site), `The sign-in of the visitors of "${domain}" is`]
    : [siteBaseUrl(baseUrl, domain), 'This is on the site itself']
}

/**
 * Leads to the page that people asked for under another name; undefined for every other failure. A client that asks a former
 * issuer gets that issuer in the response.
 */
export function redirectToRightHost(
  { code, fields }: AppError,
  request: Request,
): Response | undefined {
  if (code !== 'MisdirectedRequest') return undefined
  const { pathname, search } = new URL(request.url)
  const isPost = request.method === 'POST' && POSTED_BY_OTHERS.test(pathname)
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  if (!isPost && !isRead) return undefined
  const { baseUrl, issuer } = fields as { readonly baseUrl: string; readonly issuer?: string }
  const location = new URL(`${baseUrl}${pathname}${search}`)
  if (issuer !== undefined) location.searchParams.set(ISSUER_PARAMETER, issuer)
  const headers = { location: location.href, 'cache-control': 'no-store' }
  return new Response(null, { status: isPost ? 307 : 303, headers })
}
