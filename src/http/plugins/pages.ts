import { Elysia } from 'elysia'

import { AppError } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { formBody } from '#http/bodies/request-body.ts'
import { type FetchContext, fetchContextOf } from '#http/fetch-context.ts'
import { openerPolicyAt } from '#http/opener-policy.ts'
import { scopeOf } from '#http/request-scope.ts'
import { ACCOUNT_CLIENT_ID } from '#identity/pools/client.ts'
import type { Pool } from '#identity/pools/model.ts'
import { t } from '#languages/message.ts'
import { siteBaseUrl } from '#sites/base-url.ts'
import type { SiteEntry } from '#sites/site-directory.ts'

import {
  type AuthorityDetail,
  type ResolveContext,
  admission,
  authority,
  routeMacro,
} from './authority.ts'
import { type ResponseDetail, responseDetail } from './response-kinds.ts'
import { type PoolHttpRequest, poolRequestOf, siteOf } from './site.ts'

/**
 * What a page is for, and what it lets in beside navigations and forms of its own. Each is a
 * decision: the walk of the route table names the routes that have one.
 */
export interface PageGate {
  /** Why anyone may call it. */
  readonly open: string
  /** Forms that other origins send: to a route that gives them no more than a link would get. */
  readonly foreignForms?: true
}

export interface PoolPageGate extends PageGate {
  /** `prompt=none` in frames, at the pool of visitors: their applications renew tokens so. */
  readonly silentFrames?: true
  /**
   * At the pool of visitors a window that opened it keeps its hold of it: applications sign people in in popups. Nothing on it
   * is of an account that is signed in.
   */
  readonly popups?: true
}

declare const admitted: unique symbol

/** A request that has passed the gate. The cookies of no other one can be read. */
export type GatedRequest = Request & { readonly [admitted]: true }

export interface PoolPageRequest extends PoolHttpRequest {
  readonly request: GatedRequest
}

interface PageDetail extends AuthorityDetail, ResponseDetail {
  /** What the route lets in, for the walk of the route table. */
  readonly 'x-page': Readonly<Omit<PoolPageGate, 'open'>>
}

type Admitted = Readonly<{ site: SiteEntry; request: Request }>

/**
 * `page: { open: 'why' }` on a route: a page that people go to. It opens as a page of its own (Fetch Metadata), takes forms of
 * its own origin, and no window that opened it reads it. 403 for scripts, frames, service workers and forms of others. Adds
 * `site` and `pageRequest`. `poolPage` is the same below `/oidc/:userPoolId` and adds `poolRequest` instead, with whose cookies people are known.
 */
export const pages = (context: AppContext) => {
  const { baseUrl } = context.config
  const open = (gate: PoolPageGate) =>
    admission(detailOf(gate), formBody(), async (request) => ({
      site: await siteOf(context, request),
      request,
    }))
  return new Elysia().macro({
    ...routeMacro,
    page: (gate: PageGate) => {
      const hooks = open(gate)
      return {
        ...hooks,
        resolve(call: ResolveContext<Admitted>) {
          const { site, request } = hooks.resolve(call)
          return {
            site,
            pageRequest: pass(request, gate, { url: siteBaseUrl(baseUrl, site.host) }),
          }
        },
      }
    },
    poolPage: (gate: PoolPageGate) => {
      const hooks = open(gate)
      return {
        ...hooks,
        async resolve(call: ResolveContext<Admitted>) {
          const found = await poolRequestOf(context, hooks.resolve(call), call.params)
          const { pool } = found
          const request = pass(found.request, gate, { url: pool.issuer, pool })
          const poolRequest: PoolPageRequest = { ...found, request }
          return { poolRequest }
        },
      }
    },
  })
}

/** For the one page of a route that has popups which is of an account that is signed in. */
export function keepAlone({ request, pool }: PoolPageRequest): void {
  scopeOf(request).openerPolicy = openerPolicyAt(pool.issuer, request)
}

const detailOf = ({ open, ...gate }: PoolPageGate): PageDetail => ({
  ...authority('open', open),
  ...responseDetail('page'),
  'x-page': gate,
})

interface PagePlace {
  /** On the page's origin. */
  readonly url: string
  readonly pool?: Pool
}

function pass(request: Request, gate: PoolPageGate, { url, pool }: PagePlace): GatedRequest {
  if (!keepsOpener(request, gate, pool))
    scopeOf(request).openerPolicy = openerPolicyAt(url, request)
  const asked = fetchContextOf(request)
  const isPage = asked === 'navigation' || asked === 'unsaid'
  if (!isPage && !isSilentFrame(request, gate, { asked, pool })) {
    throw new AppError('Forbidden', t('error.not-a-page'))
  }
  if (request.method === 'POST' && !gate.foreignForms && !isOwnForm(request, url)) {
    throw new AppError('Forbidden', t('error.foreign-form'))
  }
  return asAdmitted(request)
}

const asAdmitted = (request: Request): GatedRequest => request as GatedRequest

/** The account's own sign-in opens in no popup: its client is the account's page. */
const keepsOpener = ({ url }: Request, { popups }: PoolPageGate, pool: Pool | undefined): boolean =>
  popups === true &&
  pool?.kind === 'data' &&
  new URL(url).searchParams.get('client_id') !== ACCOUNT_CLIENT_ID

const isSilentFrame = (
  { method, url }: Request,
  { silentFrames }: PoolPageGate,
  { asked, pool }: { readonly asked: FetchContext; readonly pool: Pool | undefined },
): boolean =>
  silentFrames === true &&
  asked === 'frame' &&
  pool?.kind === 'data' &&
  method === 'GET' &&
  (new URL(url).searchParams.get('prompt') ?? '').split(' ').includes('none')

/** Where the browser does not say whose page sent it, its `Origin` tells, and the token of the form. */
function isOwnForm({ headers }: Request, url: string): boolean {
  const site = headers.get('sec-fetch-site')
  if (site !== null) return site === 'same-origin'
  const sender = headers.get('origin')
  return sender === null || sender === new URL(url).origin
}
