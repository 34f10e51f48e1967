import type { AppContext } from '#context'
import { adminBaseUrl, siteBaseUrl } from '#sites/base-url.ts'
import type { SiteEntry } from '#sites/site-directory.ts'

import { operationOfPath } from './data/operation-path.ts'
import type { MethodTable } from './method-table.ts'
import { OBJECT_CORS } from './objects/routes.ts'
import type { RequestScope } from './request-scope.ts'
import { COOKIELESS_PATHS } from './site-hosts.ts'

const PREFLIGHT_SECONDS = '600'
const REQUEST_HEADERS =
  'authorization, content-encoding, content-type, idempotency-key, last-event-id, traceparent, tracestate'
/** An operation that answers HTTP takes what it likes. */
const EVERY_METHOD = 'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT'
const HEADER_NAMES = /^[\w!#$%&'*+.^`|~, -]{1,2048}$/
const RESPONSE_HEADERS = 'age, retry-after, www-authenticate, x-cache, x-request-id'

const ANY_ORIGIN_REQUEST_HEADERS =
  'authorization, cache-control, content-type, x-amz-target, x-amz-user-agent, *'
const ANY_ORIGIN_RESPONSE_HEADERS = `${RESPONSE_HEADERS}, x-amzn-errortype, x-amzn-requestid`

/**
 * Which browser origins may read a site's answers: `/data` and the contact form its own and those that the site configures,
 * the rest of `/admin` that of its administration and the installation's. Named one by one, never a wildcard; tokens travel in a header, so no credentials are allowed.
 * What OAuth clients call, and signed URLs, may be called from anywhere.
 */
export class Cors {
  readonly #context: Pick<AppContext, 'config' | 'sites' | 'httpCalls'>
  readonly #methods: MethodTable
  /** Origins that may call a site's `/data`. */
  readonly #visitorOrigins = new WeakMap<SiteEntry, readonly string[]>()

  constructor(context: Pick<AppContext, 'config' | 'sites' | 'httpCalls'>, methods: MethodTable) {
    this.#context = context
    this.#methods = methods
  }

  /** The answer to a preflight, or undefined for a request that is none. */
  async preflight(request: Request, { path, host }: RequestScope): Promise<Response | undefined> {
    const origin = request.headers.get('origin')
    const asks = origin !== null && request.headers.has('access-control-request-method')
    if (!asks) return undefined
    if (COOKIELESS_PATHS.test(path)) return this.#preflightOfAnyone(path)
    if (!hasOriginPolicy(path)) return undefined
    const headers = new Headers({ vary: 'origin' })
    const isHttp = await this.#answersHttp(path, host)
    const methods = isHttp ? EVERY_METHOD : this.#methods.allowed(path)
    if (methods !== undefined && (await this.#allows(origin, path, host))) {
      headers.set('access-control-allow-origin', origin)
      headers.set('access-control-allow-methods', methods)
      const names = isHttp ? request.headers.get('access-control-request-headers') : null
      headers.set('access-control-allow-headers', allowedNames(names))
      headers.set('access-control-max-age', PREFLIGHT_SECONDS)
    }
    return new Response(null, { status: 204, headers })
  }

  /** Lets the asking origin read an answer, where it may. */
  async open(request: Request, response: Response, { path, host }: RequestScope): Promise<void> {
    const origin = request.headers.get('origin')
    if (COOKIELESS_PATHS.test(path)) {
      response.headers.set('access-control-allow-origin', '*')
      response.headers.set('access-control-expose-headers', ANY_ORIGIN_RESPONSE_HEADERS)
    }
    if (path.startsWith(SIGNED_URLS)) {
      for (const [name, value] of Object.entries(OBJECT_CORS)) response.headers.set(name, value)
    }
    if (origin === null || !hasOriginPolicy(path)) return
    response.headers.append('vary', 'origin')
    if (!(await this.#allows(origin, path, host))) return
    response.headers.set('access-control-allow-origin', origin)
    response.headers.set('access-control-expose-headers', RESPONSE_HEADERS)
  }

  /** The headers that `open` sets on a response from `/data`, where the site is known. */
  forVisitors(site: SiteEntry, origin: string): Readonly<Record<string, string>> {
    if (!this.#originsOf(site, VISITORS).includes(origin)) return { vary: 'origin' }
    return {
      vary: 'origin',
      'access-control-allow-origin': origin,
      'access-control-expose-headers': RESPONSE_HEADERS,
    }
  }

  #preflightOfAnyone(path: string): Response {
    const headers = new Headers({
      'access-control-allow-origin': '*',
      'access-control-allow-headers': ANY_ORIGIN_REQUEST_HEADERS,
      'access-control-max-age': PREFLIGHT_SECONDS,
    })
    const methods = this.#methods.allowed(path)
    if (methods !== undefined) headers.set('access-control-allow-methods', methods)
    return new Response(null, { status: 204, headers })
  }

  async #answersHttp(path: string, host: string): Promise<boolean> {
    const operation = operationOfPath(path)
    const site = operation === undefined ? undefined : await this.#context.sites.byHost(host)
    if (!site || operation === undefined) return false
    try {
      return (await this.#context.httpCalls.find(site, operation)) !== undefined
    } catch {
      // The request itself gets the error.
      return false
    }
  }

  async #allows(origin: string, path: string, host: string): Promise<boolean> {
    const site = await this.#context.sites.byAnyHost(host)
    return site !== undefined && this.#originsOf(site, path).includes(origin)
  }

  #originsOf(site: SiteEntry, path: string): readonly string[] {
    if (!isForVisitors(path)) {
      // What is there for the console alone is for its own pages alone.
      if (site.host === site.consoleHost && site.adminDomain === null) return []
      return [this.#adminOrigin(site), new URL(this.#baseUrl).origin]
    }
    // An entry never changes; to parse the same URL for each of its calls takes longer than the rest.
    const known = this.#visitorOrigins.get(site)
    if (known) return known
    const origins = [this.#ownOrigin(site), ...site.corsOrigins]
    this.#visitorOrigins.set(site, origins)
    return origins
  }

  #adminOrigin(site: SiteEntry): string {
    return new URL(adminBaseUrl(this.#baseUrl, site)).origin
  }

  #ownOrigin({ domain }: SiteEntry): string {
    return new URL(siteBaseUrl(this.#baseUrl, domain)).origin
  }

  get #baseUrl(): string {
    return this.#context.config.baseUrl
  }
}

const allowedNames = (asked: string | null): string =>
  asked !== null && HEADER_NAMES.test(asked) ? asked : REQUEST_HEADERS

const VISITORS = '/data/'
const SIGNED_URLS = '/objects/'

const isForVisitors = (path: string): boolean =>
  path.startsWith(VISITORS) || /^\/admin\/public\/contact\/?$/.test(path)

const hasOriginPolicy = (path: string): boolean =>
  path.startsWith('/data/') || path.startsWith('/admin/')
