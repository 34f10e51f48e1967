import { AppError } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { acceptsHtml } from '#http/accepts-html.ts'
import { ConsoleHandler } from '#http/console/console-handler.ts'
import { seeOther } from '#http/oidc/see-other.ts'
import { authority } from '#http/plugins/authority.ts'
import { siteNotFound } from '#http/plugins/site.ts'
import { languageOf } from '#http/request-language.ts'
import type { RequestScope } from '#http/request-scope.ts'
import { siteBaseUrl } from '#sites/base-url.ts'
import type { SiteEntry } from '#sites/site-directory.ts'
import { isFingerprinted } from '#sites/static/fingerprint.ts'
import { isReservedPath } from '#sites/static/reserved-paths.ts'
import type { Representation, PathResolution } from '#sites/static/routes.ts'
import type { StaticSite } from '#sites/static/static-site.ts'

import { sitePage } from './site-page.ts'
import { redirectHeaders, staticHeaders } from './static-headers.ts'
import { staticResponse } from './static-response.ts'

type FileResolution = Extract<PathResolution, { kind: 'file' }>
type StaticContext = Pick<
  AppContext,
  'config' | 'sites' | 'staticSites' | 'staticContents' | 'pools' | 'openConsole'
>

const DETAIL = authority(
  'open',
  'the site’s own published files, and a page where it has none; at its console, the application',
)

/** What is answered before the routes, declared like them. */
export const STATIC_ROUTES = ['GET', 'HEAD'].map((method) => ({
  method,
  path: '/*',
  detail: { ...DETAIL },
}))

/**
 * Answers for the public files of sites, before any route is looked for: most of these requests are answered from memory
 * without waiting for anything. Paths that the service reserves are none of its business.
 */
export class StaticHandler {
  readonly #context: StaticContext
  readonly #console: ConsoleHandler
  readonly #headers = new WeakMap<FileResolution, Map<Representation, Headers>>()

  constructor(context: StaticContext) {
    this.#context = context
    this.#console = new ConsoleHandler(context)
  }

  /** Undefined, now or later, for what the routes are to answer. */
  answer(
    request: Request,
    scope: RequestScope,
  ): Response | Promise<Response | undefined> | undefined {
    if (isReservedPath(scope.path)) return undefined
    const tenant = this.#context.sites.byAnyHost(scope.host)
    if (tenant instanceof Promise) {
      return tenant.then((found) => this.#ofTenant(request, scope, found))
    }
    return this.#ofTenant(request, scope, tenant)
  }

  #ofTenant(
    request: Request,
    scope: RequestScope,
    tenant: SiteEntry | undefined,
  ): Response | Promise<Response | undefined> | undefined {
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (!tenant) {
      if (isRead) throw siteNotFound(scope.host)
      return undefined
    }
    // No file of the site is there or on its other names: its scripts would be, too.
    if (tenant.host === tenant.consoleHost) {
      return isRead ? this.#console.answer(request, scope, tenant) : undefined
    }
    if (tenant.host !== tenant.domain) {
      return isRead ? this.#page({ request, scope, tenant }) : undefined
    }
    const site = this.#context.staticSites.current(tenant.siteId)
    const work = (current: StaticSite) =>
      isRead ? this.#read({ request, scope, tenant }, current) : refuseMethod(scope.path, current)
    return site instanceof Promise ? site.then(work) : work(site)
  }

  #read(asked: Asked, site: StaticSite): Response | Promise<Response | undefined> | undefined {
    const { scope } = asked
    const resolution = resolve(asked, site)
    if (isMiss(resolution) && isFingerprinted(scope.path)) return this.#readNewer(asked, site)
    if (!resolution) return this.#page(asked)
    return this.#respond(asked, { site, resolution })
  }

  /** The page that names this file may have come from a replica that knows a later deployment. */
  async #readNewer(asked: Asked, seen: StaticSite): Promise<Response | undefined> {
    const newer = await this.#context.staticSites.newerThan(asked.tenant.siteId, seen)
    const site = newer ?? seen
    const resolution = resolve(asked, site)
    return resolution && this.#respond(asked, { site, resolution })
  }

  #respond(
    { request, scope, tenant }: Asked,
    { site, resolution }: { readonly site: StaticSite; readonly resolution: PathResolution },
  ): Response | Promise<Response | undefined> {
    const { hsts } = this.#context.config
    if (resolution.kind === 'redirect') {
      const headers = redirectHeaders({ site, hsts }, resolution)
      headers.set('x-request-id', scope.requestId)
      return new Response(null, { status: resolution.status, headers })
    }
    return staticResponse(this.#context.staticContents, {
      siteId: tenant.siteId,
      request,
      resolution,
      headersOf: (representation) => {
        const headers = this.#headersOf(site, resolution, representation)
        headers.set('x-request-id', scope.requestId)
        return headers
      },
    })
  }

  /** The root of any other name leads to the site. */
  #page({ request, scope, tenant }: Asked): Response | undefined {
    if (scope.path !== '/' || !acceptsHtml(request)) return undefined
    const { hsts, baseUrl } = this.#context.config
    const { host, domain } = tenant
    const page =
      host === domain
        ? sitePage(tenant, languageOf(request))
        : seeOther(`${siteBaseUrl(baseUrl, domain)}/`)
    page.headers.set('x-request-id', scope.requestId)
    if (hsts !== undefined) page.headers.set('strict-transport-security', hsts)
    return page
  }

  /** Kept for paths that always mean the same file. */
  #headersOf(
    site: StaticSite,
    resolution: FileResolution,
    representation: Representation,
  ): Headers {
    const known = this.#headers.get(resolution)?.get(representation)
    if (known) return known
    const { hsts } = this.#context.config
    const headers = staticHeaders({ site, hsts }, resolution, representation)
    const all = this.#headers.get(resolution) ?? new Map<Representation, Headers>()
    this.#headers.set(resolution, all.set(representation, headers))
    return headers
  }
}

interface Asked {
  readonly request: Request
  readonly scope: RequestScope
  readonly tenant: SiteEntry
}

const isMiss = (resolution: PathResolution | undefined): boolean =>
  resolution === undefined || (resolution.kind === 'file' && resolution.status === 404)

const resolve = ({ request, scope }: Asked, site: StaticSite): PathResolution | undefined =>
  site.resolve({
    path: scope.path,
    search: () => searchOf(request.url),
    acceptsHtml: () => acceptsHtml(request),
  })

/** What is a file is read, whatever else is wanted of it. */
function refuseMethod(path: string, site: StaticSite): undefined {
  if (!site.hasFile(path)) return undefined
  const allow = 'GET, HEAD'
  throw new AppError('MethodNotAllowed', `This path answers ${allow} only`, { fields: { allow } })
}

function searchOf(url: string): string {
  const start = url.indexOf('?')
  if (start === -1) return ''
  const end = url.indexOf('#', start)
  return end === -1 ? url.slice(start) : url.slice(start, end)
}
