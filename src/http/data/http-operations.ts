import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { requestBodyDetail } from '#http/bodies/request-body.ts'
import { authority } from '#http/plugins/authority.ts'
import { changesDetail } from '#http/plugins/changes.ts'
import { routeNotFound } from '#http/plugins/errors.ts'
import { siteOf } from '#http/plugins/site.ts'
import { scopeOf } from '#http/request-scope.ts'
import type { CallAuthority } from '#platform/sandbox-host/call.ts'
import type { HttpOperation } from '#runtime/calls/http/http-calls.ts'
import { OperationExchange } from '#runtime/calls/http/operation-exchange.ts'
import { siteBaseUrl } from '#sites/base-url.ts'
import type { Site } from '#sites/site.ts'

import { HTTP_BODY, servedText } from './served-request.ts'
import { siteResponse } from './site-response.ts'

const OPEN = 'serves operations that their site made public and that answer HTTP, and no others'

/**
 * Operations that answer HTTP: every method at their path, and everything below it. A POST to the path itself comes by the
 * route of all operations.
 */
export const httpOperationRoutes = (context: AppContext) => {
  const declared = {
    ...requestBodyDetail(HTTP_BODY),
    ...changesDetail({ audit: 'call', effects: [] }),
  }
  const open = { ...authority('open', OPEN), ...declared }
  const signedIn = { ...authority('visitor'), ...declared }
  const serve = (request: Request, operation: string, isOpen: boolean) =>
    serveFound(context, { request, operation, isOpen })
  return new Elysia({ prefix: '/data' })
    .all('/public/:operation', ({ request, params }) => serve(request, params.operation, true), {
      parse: 'none',
      detail: open,
    })
    .all('/public/:operation/*', ({ request, params }) => serve(request, params.operation, true), {
      parse: 'none',
      detail: open,
    })
    .all('/:operation', ({ request, params }) => serve(request, params.operation, false), {
      parse: 'none',
      detail: signedIn,
    })
    .all('/:operation/*', ({ request, params }) => serve(request, params.operation, false), {
      parse: 'none',
      detail: signedIn,
    })
}

interface Incoming {
  readonly request: Request
  readonly operation: string
  readonly isOpen: boolean
}

/** A call whose caller is known. */
export interface AuthorizedRequest extends Incoming {
  readonly site: Site
  readonly authority: CallAuthority
}

async function serveFound(context: AppContext, incoming: Incoming): Promise<Response> {
  const { request, isOpen } = incoming
  const site = await siteOf(context, request)
  const found = await context.httpCalls.find(site, incoming.operation)
  if (!found) throw routeNotFound()
  const bearer = request.headers.get('authorization') ?? undefined
  const authority = isOpen ? null : await context.visitorTokens.verify(site, bearer)
  return answerHttp(context, { ...incoming, site, authority }, found)
}

/** Hands the request to the operation's function and its response to the client, as they are. */
export async function answerHttp(
  context: AppContext,
  { request, site, operation, authority, isOpen }: AuthorizedRequest,
  found: HttpOperation,
): Promise<Response> {
  HTTP_BODY.checkDeclaredLength(request)
  const { requestId, peerAddress: address } = scopeOf(request)
  const served = await servedText({
    request,
    origin: siteBaseUrl(context.config.baseUrl, site.domain),
    basePath: isOpen ? `/data/public/${operation}` : `/data/${operation}`,
    requestId,
    address,
    isAuthorized: !isOpen,
  })
  const exchange = new OperationExchange(served.source)
  request.signal.addEventListener('abort', () => exchange.leave(), { once: true })
  const call = {
    site,
    operation,
    requestId,
    authority,
    depth: 0,
    address,
    visitorSignal: () => request.signal,
    body: served.text,
    exchange,
  }
  return siteResponse(await context.httpCalls.answer(call, found, exchange), request.method)
}
