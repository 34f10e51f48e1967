import { AppError } from '#base/app-error.ts'
import { statusOf } from '#base/error-status.ts'
import type { Logger } from '#platform/log/logger.ts'

import type { MethodTable } from './method-table.ts'
import { toAppError } from './plugins/errors.ts'
import { scopeOf } from './request-scope.ts'

export interface FailedRequest {
  readonly error: unknown
  /** What Elysia calls it; `UNKNOWN` for what was thrown outside of it. */
  readonly code: string | number
  readonly request: Request
}

/** The error that the client gets. The cause of an unexpected error is logged. */
export function toClientError(
  { error, code, request }: FailedRequest,
  methods: MethodTable,
  logger: Logger,
): AppError {
  const { requestId, host, path } = scopeOf(request)
  const clientError = toAppError(error, code)
  if (statusOf(clientError) >= 500 && clientError.cause !== undefined) {
    logger.error({ err: clientError.cause, requestId, host, path }, 'request failed')
  }
  return withMethod(clientError, methods, request)
}

/** A route that was reached and says itself that there is nothing keeps its own words. */
function withMethod(error: AppError, methods: MethodTable, request: Request): AppError {
  const { path } = scopeOf(request)
  const allow = error.code === 'RouteNotFound' ? methods.allowed(path) : undefined
  if (allow === undefined || allow.split(', ').includes(request.method)) return error
  return new AppError('MethodNotAllowed', `This path answers ${allow} only`, { fields: { allow } })
}
