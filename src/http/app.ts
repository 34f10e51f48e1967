import { randomBytes } from 'node:crypto'

import { Elysia } from 'elysia'

import { AppError } from '#base/app-error.ts'
import type { AppContext } from '#context'
import type { Peer } from '#platform/http-server/serve.ts'

import { boundBody } from './body-bound.ts'
import { Cors } from './cors.ts'
import { MethodTable } from './method-table.ts'
import { errorResponse, statusOf, toAppError } from './plugins/errors.ts'
import { type RequestScope, openScope, scopeOf } from './request-scope.ts'
import { routes } from './routes.ts'
import { TrustedProxies } from './trusted-proxies.ts'

export interface HttpApp {
  fetch(request: Request, peer: Peer): Promise<Response>
  readonly routes: readonly RouteDeclaration[]
}

export interface RouteDeclaration {
  readonly method: string
  readonly path: string
  readonly detail: Readonly<Record<string, unknown>>
}

export function httpApp(context: AppContext): HttpApp {
  const table = routes(context)
  const methods = new MethodTable(table.routes)
  const scopes = new ScopeReader(context)
  const cors = new Cors(context, methods)

  const failed = (error: unknown, code: string | number, request: Request): Response => {
    const path = pathOf(request.url)
    const failure = withMethod(toAppError(error, code), methods, path)
    const { requestId, host } = scopeOf(request)
    if (statusOf(failure) >= 500 && failure.cause !== undefined) {
      context.logger.error({ err: failure.cause, requestId, host, path }, 'request failed')
    }
    return errorResponse(failure, path, requestId)
  }
  // The error hook must stand before the routes: Elysia gives it only to those that follow.
  const elysia = new Elysia({ normalize: false })
    .onError(({ error, code, request }) => failed(error, code, request))
    .use(table)
    .compile()

  return {
    routes: table.routes.map(({ method, path, hooks }) => ({
      method,
      path,
      detail: (hooks?.detail ?? {}) as Readonly<Record<string, unknown>>,
    })),
    async fetch(request, peer) {
      const startedAt = performance.now()
      const scope = scopes.read(request, peer)
      openScope(request, scope)
      const path = pathOf(request.url)
      const response =
        (await cors.preflight(request, path, scope.host)) ??
        (await answer(elysia, request, scope).catch((error: unknown) =>
          failed(error, 'UNKNOWN', request),
        ))
      if (request.headers.has('origin')) await cors.open(request, response, path, scope.host)
      return finished(context, { request, response, path, scope, startedAt })
    },
  }
}

async function answer(
  elysia: { handle(request: Request): Response | Promise<Response> },
  request: Request,
  scope: RequestScope,
): Promise<Response> {
  const bounded = hasBody(request) ? await boundBody(request, pathOf(request.url)) : request
  if (bounded !== request) openScope(bounded, scope)
  return elysia.handle(bounded)
}

interface Exchange {
  readonly request: Request
  readonly response: Response
  readonly path: string
  readonly scope: RequestScope
  readonly startedAt: number
}

function finished(context: AppContext, { request, response, path, scope, startedAt }: Exchange) {
  response.headers.set('x-request-id', scope.requestId)
  const fields = {
    requestId: scope.requestId,
    method: request.method,
    host: scope.host,
    path,
    status: response.status,
    ms: Math.round(performance.now() - startedAt),
  }
  // Successful operations are counted by `GET /admin/data/usage`; a line each would cost more than the call.
  if (path.startsWith('/data/') && response.status < 500) context.logger.debug(fields, 'request')
  else context.logger.info(fields, 'request')
  return response
}

/** Request ids: a random stem per process and a counter; the host as the client, or a trusted proxy, names it. */
class ScopeReader {
  readonly #proxies: TrustedProxies
  readonly #stem = randomBytes(6).toString('hex')
  #count = 0

  constructor(context: AppContext) {
    this.#proxies = new TrustedProxies(context.config.trustedProxies)
  }

  read(request: Request, peer: Peer): RequestScope {
    this.#count += 1
    const requestId = `${this.#stem}-${this.#count.toString(36)}`
    const host = request.headers.get('host') ?? ''
    const trusted = !this.#proxies.none && this.#proxies.trusts(peer.address)
    if (!trusted) {
      return {
        requestId,
        host,
        get peerAddress() {
          return peer.address
        },
      }
    }
    const forwardedHost = request.headers.get('x-forwarded-host')?.split(',')[0]?.trim()
    return {
      requestId,
      host: forwardedHost || host,
      peerAddress: this.#proxies.clientOf(peer.address, request.headers.get('x-forwarded-for')),
    }
  }
}

function withMethod(error: AppError, methods: MethodTable, path: string): AppError {
  const allow = error.code === 'RouteNotFound' ? methods.allowed(path) : undefined
  if (allow === undefined) return error
  return new AppError('MethodNotAllowed', `This path answers ${allow} only`, { fields: { allow } })
}

const hasBody = ({ method }: Request): boolean => method !== 'GET' && method !== 'HEAD'

/** The path of an absolute URL, without parsing all of it. */
function pathOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('://') + 3)
  if (start === -1) return '/'
  const end = url.indexOf('?', start)
  return end === -1 ? url.slice(start) : url.slice(start, end)
}
