import type { AppError } from '#base/app-error.ts'
import { statusOf } from '#base/error-status.ts'
import { errorHeaders } from '#http/plugins/errors.ts'

/** Where a site's repository is, on its own domain. Reserved: no page of a site is under it. */
export const REPOSITORY_PATH = '/site.git'

export const isRepositoryPath = (path: string): boolean =>
  path === REPOSITORY_PATH || path.startsWith(`${REPOSITORY_PATH}/`)

/** Git shows the text of a failure to its user when it is plain text, and asks for a password on 401. */
export function repositoryErrorResponse(error: AppError): Response {
  const headers = errorHeaders(error)
  const status = statusOf(error)
  headers.set('content-type', 'text/plain; charset=utf-8')
  headers.set('cache-control', 'no-store')
  if (status === 401) {
    headers.set('www-authenticate', 'Basic realm="a deploy token as the password", charset="UTF-8"')
  }
  return new Response(`${error.code}: ${error.message}\n`, { status, headers })
}
