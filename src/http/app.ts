import { Elysia } from 'elysia'

import { statusOf } from '#base/error-status.ts'
import type { AppContext } from '#context'
import { prepareTexts } from '#languages/message.ts'
import { answerBody } from '#platform/http-server/answer-body.ts'
import type { Peer } from '#platform/http-server/http-server.ts'
import { hostName } from '#sites/domain.ts'
import { isReservedPath } from '#sites/static/reserved-paths.ts'

import { isJsonType } from './bodies/content-types.ts'
import { toClientError } from './client-error.ts'
import { Cors } from './cors.ts'
import { answerHeaders } from './data/answer-headers.ts'
import { FastPath } from './data/fast-path.ts'
import { isRepositoryPath, repositoryErrorResponse } from './git/repository-path.ts'
import { isProbe } from './health.ts'
import { MethodTable } from './method-table.ts'
import { errorPage, isForPeople } from './oidc/pages/error-page.ts'
import { OPENER_POLICY } from './opener-policy.ts'
import { errorHeaders, errorResponse } from './plugins/errors.ts'
import { preventCaching } from './private-responses.ts'
import { type RequestScope, RequestScopes, attachScope, scopeOf } from './request-scope.ts'
import { type RouteDeclaration, routeDeclarations } from './route-declaration.ts'
import { routes } from './routes.ts'
import { redirectToRightHost } from './site-hosts.ts'
import { STATIC_ROUTES, StaticHandler } from './static/static-handler.ts'

export interface HttpApp {
  /** Synchronous for what is in memory: a promise would cost as much as the rest. */
  fetch(request: Request, peer: Peer): Response | Promise<Response>
  readonly routes: readonly RouteDeclaration[]
}

export function httpApp(context: AppContext): HttpApp {
  prepareTexts()
  const table = routes(context)
  checkReserved(table.routes)
  const methods = new MethodTable(table.routes)
  const failed = failureOf(context, methods)
  // The error hook must come before the routes: Elysia gives it only to those that follow.
  const elysia = new Elysia({ normalize: false })
    .onError(({ error, code, request }) => failed(error, code, request))
    .use(table)
    .compile()
  const staticHandler = new StaticHandler(context)
  const scopes = new RequestScopes(context.config.trustedProxies, context.ids)
  const log = requestLog(context)
  const cors = new Cors(context, methods)
  const routed = routing(context, { elysia, failed, log, cors })
  const fast = fastPath(context, { failed, log, cors })

  return {
    routes: [...STATIC_ROUTES, ...routeDeclarations(table)],
    fetch(request, peer) {
      const scope = scopes.of(request, peer)
      const call = fast.answer(request, scope, peer)
      if (call !== undefined) return call
      attachScope(request, scope)
      const file = attempt(() => staticHandler.answer(request, scope))
      if (file instanceof Promise) return later(request, scope, file)
      if (file === undefined) return routed(request, scope)
      log.ended(request, file, { scope, isCounted: true })
      return file
    },
  }

  async function later(
    request: Request,
    scope: RequestScope,
    file: Promise<Response | undefined>,
  ): Promise<Response> {
    const found = await file.catch((error: unknown) => ({ error }))
    if (found instanceof Response) {
      log.ended(request, found, { scope, isCounted: true })
      return found
    }
    return routed(request, scope, found && Promise.reject(found.error))
  }
}

/** A path that some file could have as well would never reach its route. */
function checkReserved(declared: readonly { readonly path: string }[]): void {
  const open = declared.find(({ path }) => !isReservedPath(path))
  if (open) throw new Error(`The route ${open.path} is outside the reserved paths: reserve it`)
}

/** What is thrown at once as a promise that rejects. */
function attempt<Result>(work: () => Result): Result | Promise<never> {
  try {
    return work()
  } catch (error) {
    return Promise.reject(error)
  }
}

const isOperation = ({ path }: RequestScope): boolean => path.startsWith('/data/')

/** Visitors' calls that need no route. Their answers read as they do from there. */
function fastPath(
  context: AppContext,
  { failed, log, cors }: Omit<RoutingDeps, 'elysia'>,
): FastPath {
  const { hsts } = context.config
  return new FastPath(context, cors, {
    toResponse(answer, { request, scope, cors: opened }) {
      const headers = answerHeaders(answer)
      headers['x-request-id'] = scope.requestId
      if (opened !== undefined) Object.assign(headers, opened)
      if (hsts !== undefined) headers['strict-transport-security'] = hsts
      const response = new Response(answerBody(answer.body), { headers })
      if (log.isEverything) log.ended(request, response, { scope, isCounted: true })
      return response
    },
    toErrorResponse(error, { request, scope, cors: opened = {} }) {
      attachScope(request, scope)
      const response = failed(error, 'UNKNOWN', request)
      for (const [name, value] of Object.entries(opened)) response.headers.set(name, value)
      response.headers.set('x-request-id', scope.requestId)
      if (hsts !== undefined) response.headers.set('strict-transport-security', hsts)
      log.ended(request, response, { scope, isCounted: true })
      return response
    },
  })
}

interface RoutingDeps {
  readonly elysia: { handle(request: Request): Response | Promise<Response> }
  readonly failed: ReturnType<typeof failureOf>
  readonly log: ReturnType<typeof requestLog>
  readonly cors: Cors
}

/** Gives what the routes say, or how a failure reads, with the headers that every answer has. */
function routing(context: AppContext, { elysia, failed, log, cors }: RoutingDeps) {
  const { hsts } = context.config
  return async (
    request: Request,
    scope: RequestScope,
    rejected?: Promise<never>,
  ): Promise<Response> => {
    const response = await (rejected ?? answer(request, scope)).catch((error: unknown) =>
      failed(error, 'UNKNOWN', request),
    )
    if (request.headers.has('origin')) await openToOrigin(request, response, scope)
    response.headers.set('x-request-id', scope.requestId)
    if (hsts !== undefined) response.headers.set('strict-transport-security', hsts)
    if (scope.openerPolicy !== undefined) response.headers.set(OPENER_POLICY, scope.openerPolicy)
    preventCaching(response, scope.path)
    log.ended(request, response, { scope, isCounted: isOperation(scope) })
    return response
  }

  async function answer(request: Request, scope: RequestScope): Promise<Response> {
    const preflight = request.method === 'OPTIONS' && (await cors.preflight(request, scope))
    return preflight || elysia.handle(request)
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
}

/** Renders a failure as its asker reads it. */
function failureOf(context: AppContext, methods: MethodTable) {
  return (error: unknown, code: string | number, request: Request): Response => {
    const scope = scopeOf(request)
    const { requestId, host, path } = scope
    const clientError = toClientError({ error, code, request }, methods, context.logger)
    scope.isQuiet = clientError.code === 'DiskFull'
    if (!isForPeople(path, request)) {
      const response = isRepositoryPath(path)
        ? repositoryErrorResponse(clientError)
        : errorResponse(clientError, path, requestId)
      // A request in JSON is answered in JSON, whatever it accepts.
      if (!isJsonType(request.headers.get('content-type'))) response.headers.set('vary', 'accept')
      return response
    }
    const place = redirectToRightHost(clientError, request)
    if (place !== undefined) return place
    return errorPage(clientError, errorHeaders(clientError), {
      request,
      site: context.sites.anyInMemory(host) ?? { domain: hostName(host) },
      status: statusOf(clientError),
      baseUrl: context.config.baseUrl,
    })
  }
}

/**
 * One line per request, at its end. Operations that answered are counted by `GET /admin/data/usage`, and of files there are many
 * for each page: a line each would cost more than the answer. Probes are not logged at all. While a disk is full, which may be
 * that of the log, only faults have one.
 */
function requestLog({ logger, config, disk }: Pick<AppContext, 'logger' | 'config' | 'disk'>) {
  const level = config.logLevel
  const isEverything = level === 'debug' || level === 'trace'
  const ended = (
    request: Request,
    { status }: Response,
    { scope, isCounted }: { readonly scope: RequestScope; readonly isCounted: boolean },
  ): void => {
    const isFine = status < 500 && (isCounted || disk.isFull('folder'))
    const isQuiet = scope.isQuiet || isFine || isProbe(scope.path)
    if (isQuiet && !isEverything) return
    const { requestId, host, path, startedAt } = scope
    const ms = Math.round(performance.now() - startedAt)
    const fields = { requestId, method: request.method, host, path, status, ms }
    if (isQuiet) logger.debug(fields, 'request')
    else logger.info(fields, 'request')
  }
  return { isEverything, ended }
}
