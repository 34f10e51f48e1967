import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import type { Peer } from '#platform/http-server/http-server.ts'

import { toClientError } from './client-error.ts'
import { MethodTable } from './method-table.ts'
import type { ProcessWatch } from './metrics/installation.ts'
import { errorResponse } from './plugins/errors.ts'
import { preventCaching } from './private-responses.ts'
import { type RequestScope, RequestScopes, scopeOf } from './request-scope.ts'
import { operatorRoutes } from './routes.ts'

export interface OperatorApp {
  fetch(request: Request, peer: Peer): Promise<Response>
}

/** What is served at `OPERATOR_PORT`: the operator's routes and what machines ask. Nothing of a site, whatever the host says. */
export function operatorApp(context: AppContext, watch: ProcessWatch): OperatorApp {
  const { logger } = context
  const table = operatorRoutes(context, watch)
  const methods = new MethodTable(table.routes)
  // The error hook must come before the routes: Elysia gives it only to those that follow.
  const elysia = new Elysia({ normalize: false })
    .onError(({ error, code, request }) => failed(error, code, request))
    .use(table)
    .compile()
  const scopes = new RequestScopes(context.config.trustedProxies, context.ids)
  return {
    async fetch(request, peer) {
      const scope = scopes.open(request, peer)
      const response = await answer(request)
      response.headers.set('x-request-id', scope.requestId)
      preventCaching(response, scope.path)
      log(request, response, scope)
      return response
    },
  }

  async function answer(request: Request): Promise<Response> {
    try {
      return await elysia.handle(request)
    } catch (error) {
      return failed(error, 'UNKNOWN', request)
    }
  }

  function failed(error: unknown, code: string | number, request: Request): Response {
    const { requestId, path } = scopeOf(request)
    const told = toClientError({ error, code, request }, methods, logger)
    return errorResponse(told, path, requestId)
  }

  /** Of what machines ask time and again only the failures are worth a line. */
  function log(request: Request, { status }: Response, scope: RequestScope): void {
    const { requestId, path, startedAt } = scope
    const ms = Math.round(performance.now() - startedAt)
    const fields = { requestId, method: request.method, path, status, ms }
    if (path.startsWith('/portal/')) logger.info(fields, 'request')
    else logger.debug(fields, 'request')
  }
}
