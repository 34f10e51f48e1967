import { Elysia } from 'elysia'

import { AppError } from '#base/app-error.ts'
import type { Language } from '#base/language.ts'
import type { AppContext } from '#context'
import { formBody } from '#http/bodies/request-body.ts'
import { originOf } from '#http/request-origin.ts'
import { scopeOf } from '#http/request-scope.ts'
import { requireHostKind, requirePoolHost } from '#http/site-hosts.ts'
import type { PoolRequest } from '#identity/pool-request.ts'
import { DEFAULT_LANGUAGE } from '#languages/language.ts'
import type { SiteEntry } from '#sites/site-directory.ts'

import {
  type PathParams,
  type ResolveContext,
  admission,
  authority,
  routeMacro,
} from './authority.ts'

export interface PoolHttpRequest extends PoolRequest {
  readonly request: Request
  /** Of the reader of the response. */
  readonly language: Language
}

/**
 * The tenant of a request is the host it was sent to; nothing in the path or body can change it. 421 `MisdirectedRequest` for
 * what is under the other name of a site that has two.
 */
export async function siteOf(context: AppContext, request: Request): Promise<SiteEntry> {
  const { host, path } = scopeOf(request)
  const site = await context.sites.byAnyHost(host)
  if (!site) throw siteNotFound(host)
  requireHostKind(site, path, context.config.baseUrl)
  return site
}

export const siteNotFound = (host: string): AppError =>
  new AppError('SiteNotFound', `No site has the domain "${host}": the Host header names the site`)

/**
 * `open: 'why'` on a route: anyone may call it. Adds `site`. `openPool` is the same below `/oidc/:userPoolId` and adds
 * `poolRequest` instead.
 */
export const publicSite = (context: AppContext) => {
  const open = (why: string) =>
    admission(authority('open', why), formBody(), async (request) => ({
      site: await siteOf(context, request),
      request,
    }))
  return new Elysia().macro({
    ...routeMacro,
    open,
    openPool: (why: string) => {
      const hooks = open(why)
      return {
        ...hooks,
        async resolve({ admitted, params }: ResolveContext<{ site: SiteEntry; request: Request }>) {
          const found = hooks.resolve({ admitted, params })
          return { poolRequest: await poolRequestOf(context, found, params) }
        },
      }
    },
  })
}

/** The request with the pool that its path names, which is the site's. */
export async function poolRequestOf(
  context: AppContext,
  { site, request }: { readonly site: SiteEntry; readonly request: Request },
  params: PathParams,
): Promise<PoolHttpRequest> {
  const pool = await context.pools.at(site, String(params?.['userPoolId']))
  requirePoolHost(site, pool, scopeOf(request).path, context.config.baseUrl)
  const origin = originOf(request)
  return { site, pool, request, origin, language: origin.language ?? DEFAULT_LANGUAGE }
}
