import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { hasJsonBody, readText } from '#http/bodies/read-body.ts'
import { jsonBody, requestBodyDetail } from '#http/bodies/request-body.ts'
import { authority } from '#http/plugins/authority.ts'
import { changesDetail } from '#http/plugins/changes.ts'
import { siteNotFound } from '#http/plugins/site.ts'
import { scopeOf } from '#http/request-scope.ts'
import type { Visitor } from '#identity/visitor.ts'
import { answerBody } from '#platform/http-server/answer-body.ts'
import type { OperationAnswer } from '#runtime/calls/operation-calls.ts'
import { NO_PAYLOAD } from '#runtime/calls/request-body.ts'
import type { Site } from '#sites/site.ts'

import { answerHeaders } from './answer-headers.ts'
import { type AuthorizedRequest, answerHttp } from './http-operations.ts'

const BODY = jsonBody()

/**
 * The path of visitors' calls. It admits its callers itself, before anything of the body is read, and waits only where there
 * is something to wait for: host, token and revision are answered from memory.
 */
export const dataOperationRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/data' })
    .post(
      '/public/:operation',
      ({ request, params }) => serve(context, { request, operation: params.operation, open: true }),
      {
        parse: 'none',
        detail: {
          ...authority('open', 'serves operations that their site made public, and no others'),
          ...requestBodyDetail(BODY),
          ...changesDetail({ audit: 'call', effects: [] }),
        },
      },
    )
    .post(
      '/:operation',
      ({ request, params }) =>
        serve(context, { request, operation: params.operation, open: false }),
      {
        parse: 'none',
        detail: {
          ...authority('visitor'),
          ...requestBodyDetail(BODY),
          ...changesDetail({ audit: 'call', effects: [] }),
        },
      },
    )

interface Incoming {
  readonly request: Request
  readonly operation: string
  readonly open: boolean
}

async function serve(
  context: AppContext,
  { request, operation, open }: Incoming,
): Promise<Response> {
  const { host } = scopeOf(request)
  const known = context.sites.byHost(host)
  const site = known instanceof Promise ? await known : known
  if (!site) throw siteNotFound(host)
  const verified = open ? null : visitorOf(context, site, request)
  const authority = verified instanceof Promise ? await verified : verified
  const called = { request, operation, site, authority, isOpen: open }
  const http = context.httpCalls.find(site, operation)
  const found = http instanceof Promise ? await http : http
  return found ? answerHttp(context, called, found) : answerJson(context, called)
}

async function answerJson(
  context: AppContext,
  { request, operation, site, authority }: AuthorizedRequest,
): Promise<Response> {
  BODY.checkDeclaredLength(request)
  const scope = scopeOf(request)
  const body = hasJsonBody(request) ? await readText(request, BODY) : ''
  const answer = context.operationCalls.call({
    site,
    operation,
    requestId: scope.requestId,
    authority,
    depth: 0,
    address: authority === null ? scope.peerAddress : undefined,
    signal: undefined,
    visitorSignal: () => request.signal,
    body: body || NO_PAYLOAD,
  })
  return responseOf(answer instanceof Promise ? await answer : answer)
}

const visitorOf = (
  { visitorTokens }: AppContext,
  site: Site,
  { headers }: Request,
): Visitor | Promise<Visitor> =>
  visitorTokens.verify(site, headers.get('authorization') ?? undefined)

const responseOf = (answer: OperationAnswer): Response =>
  new Response(answerBody(answer.body), { headers: answerHeaders(answer) })
