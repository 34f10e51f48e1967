import type { ValueError } from '@sinclair/typebox/value'
import { ValidationError } from 'elysia'

import { AppError } from '#base/app-error.ts'
import { databaseBusy } from '#base/database-busy.ts'
import { statusOf } from '#base/error-status.ts'
import { schemaFaults } from '#base/schema-faults.ts'

/** Statuses that may come before the end of the body. */
const BODY_UNREAD = new Set([408, 413, 415, 421])

/** The answer to a failed request, in the words of its route family. */
export function errorResponse(error: AppError, path: string, requestId: string): Response {
  const headers = errorHeaders(error)
  headers.set('content-type', 'application/json')
  return new Response(JSON.stringify(errorBody(error, path, requestId)), {
    status: statusOf(error),
    headers,
  })
}

/** What a failure says in its headers, whatever its body is. */
export function errorHeaders(error: AppError): Headers {
  const headers = new Headers()
  const status = statusOf(error)
  if (status === 401) headers.set('www-authenticate', challenge(error))
  if (error.retryAfterSeconds !== undefined) {
    headers.set('retry-after', String(Math.max(1, Math.ceil(error.retryAfterSeconds))))
  }
  // The rest of the body is not read: what follows it on the connection would be taken for it.
  if (BODY_UNREAD.has(status)) headers.set('connection', 'close')
  if (error.code === 'MethodNotAllowed' && typeof error.fields?.['allow'] === 'string') {
    headers.set('allow', error.fields['allow'])
  }
  if (typeof error.fields?.['acceptEncoding'] === 'string') {
    headers.set('accept-encoding', error.fields['acceptEncoding'])
  }
  return headers
}

/** Every failure as an AppError. Unexpected errors become `InternalError`, the cause kept for the log. */
export function toAppError(error: unknown, code: string | number): AppError {
  if (error instanceof AppError) return error
  // Elysia wraps what a parse hook throws; admission runs there.
  if (error instanceof Error && error.cause instanceof AppError) return error.cause
  if (code === 'NOT_FOUND') return routeNotFound()
  if (code === 'PARSE') return new AppError('InvalidJson', 'The request body is not valid JSON')
  if (error instanceof ValidationError && error.type !== 'response') return validationFault(error)
  // A response that breaks its own schema arrives here too: our bug, not the caller's.
  return (
    databaseBusy(error) ??
    new AppError('InternalError', 'Something went wrong on our side', { cause: error })
  )
}

export const routeNotFound = (): AppError => new AppError('RouteNotFound', 'There is no such route')

function errorBody(error: AppError, path: string, requestId: string): object {
  const body = {
    code: error.thrown?.code ?? error.code,
    message: error.message,
    requestId,
    ...(error.details === undefined ? {} : { details: error.details }),
    ...error.fields,
  }
  return isEnvelope(path) ? { ok: false, error: body } : { error: body }
}

const COMPUTE = '/admin/data/compute/execute'

/** Whether the answers of that path are `{ ok, data }` or `{ ok, error }`. */
const isEnvelope = (path: string): boolean =>
  path === '/data' || path.startsWith('/data/') || path === COMPUTE

const challenge = (error: AppError): string =>
  error.code === 'TokenExpired'
    ? 'Bearer error="invalid_token", error_description="The token has expired"'
    : 'Bearer'

function validationFault(error: Readonly<ValidationError>): AppError {
  const details = schemaFaults(faultsOf(error)).map((fault) => ({
    ...fault,
    field: fault.field === 'body' ? error.type : fault.field,
  }))
  const first = details[0]
  const message = first ? `${first.field}: ${first.message}` : `The ${error.type} is not valid`
  return new AppError('ValidationError', message, { details })
}

/** One after the other, as they are asked for: `error.all` looks for 64 of them, however long that takes. */
const faultsOf = (error: Readonly<ValidationError>): Iterable<ValueError> =>
  'Errors' in error.validator
    ? error.validator.Errors(error.value)
    : error.all.filter((fault) => fault.summary !== undefined)
