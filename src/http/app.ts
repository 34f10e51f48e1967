import { Elysia } from 'elysia'

import { AppError } from '#base/app-error.ts'
import { statusOf } from '#base/error-status.ts'
import type { AppContext } from '#context'
import type { Peer } from '#platform/http-server/http-server.ts'
import type { Logger } from '#platform/log/logger.ts'

import { Cors } from './cors.ts'
import { MethodTable } from './method-table.ts'
import { errorPage, isForPeople } from './oidc/pages/error-page.ts'
import { errorHeaders, errorResponse, toAppError } from './plugins/errors.ts'
import { type RequestScope, RequestScopes, scopeOf } from './request-scope.ts'
import { routes } from './routes.ts'

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
  const failed = failureOf(context, methods)
  // The error hook must stand before the routes: Elysia gives it only to those that follow.
  const elysia = new Elysia({ normalize: false })
    .onError(({ error, code, request }) => failed(error, code, request))
    .use(table)
    .compile()
  const { hsts } = context.config
  const cors = new Cors(context, methods)
  const scopes = new RequestScopes(context.config.trustedProxies, context.ids)
  const log = requestLog(context.logger, context.config.logLevel)

  return {
    routes: table.routes.map(({ method, path, hooks }) => ({
      method,
      path,
      detail: (hooks?.detail ?? {}) as Readonly<Record<string, unknown>>,
    })),
    async fetch(request, peer) {
      const scope = scopes.open(request, peer)
      const response = await answer(request, scope).catch((error: unknown) =>
        failed(error, 'UNKNOWN', request),
      )
      if (request.headers.has('origin')) await openToOrigin(request, response, scope)
      response.headers.set('x-request-id', scope.requestId)
      if (hsts !== undefined) response.headers.set('strict-transport-security', hsts)
      log(request, response, scope)
      return response
    },
  }

  /** A failure here must not take the answer away: without the header it stays closed to the asking page. */
  async function openToOrigin(
    request: Request,
    response: Response,
    scope: RequestScope,
  ): Promise<void> {
    try {
      await cors.open(request, response, scope)
    } catch (error) {
      const { requestId, host } = scope
      context.logger.error({ err: error, requestId, host }, 'origin not looked up')
    }
  }

  async function answer(request: Request, scope: RequestScope): Promise<Response> {
    const preflight = request.method === 'OPTIONS' && (await cors.preflight(request, scope))
    return preflight || elysia.handle(request)
  }
}

/** Renders a failure, and logs what nobody expected. */
function failureOf(context: AppContext, methods: MethodTable) {
  return (error: unknown, code: string | number, request: Request): Response => {
    const { requestId, host, path } = scopeOf(request)
    const failure = withMethod(toAppError(error, code), methods, request)
    if (statusOf(failure) >= 500 && failure.cause !== undefined) {
      context.logger.error({ err: failure.cause, requestId, host, path }, 'request failed')
    }
    return isForPeople(path, request)
      ? errorPage(failure, errorHeaders(failure), { host, requestId, status: statusOf(failure) })
      : errorResponse(failure, path, requestId)
  }
}

/** A route that was reached and says itself that there is nothing keeps its own words. */
function withMethod(error: AppError, methods: MethodTable, request: Request): AppError {
  const { path } = scopeOf(request)
  const allow = error.code === 'RouteNotFound' ? methods.allowed(path) : undefined
  if (allow === undefined || allow.split(', ').includes(request.method)) return error
  return new AppError('MethodNotAllowed', `This path answers ${allow} only`, { fields: { allow } })
}

/**
 * One line per request, at its end. Operations that answered are counted by `GET /admin/data/usage`; a line each would cost
 * more than the call.
 */
function requestLog(logger: Logger, level: string) {
  const everything = level === 'debug' || level === 'trace'
  return (request: Request, { status }: Response, scope: RequestScope): void => {
    const { requestId, host, path, startedAt } = scope
    const operation = path.startsWith('/data/') && status < 500
    if (operation && !everything) return
    const ms = Math.round(performance.now() - startedAt)
    const fields = { requestId, method: request.method, host, path, status, ms }
    if (operation) logger.debug(fields, 'request')
    else logger.info(fields, 'request')
  }
}
